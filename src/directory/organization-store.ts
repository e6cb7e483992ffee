import { randomUUID } from 'node:crypto'
import type { Bus, Engine, Kv } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import type { Events } from '../events/events.ts'
import { eventQueue, eventTopic } from '../events/outbound.ts'
import { accessChangeOf, accessTopic, encodeAccessChange } from './access-change.ts'
import { occurrencesOf } from './change-activities.ts'
import { keys, type OrganizationScope, organizationPart } from './organization-keys.ts'
import { type Reader, StoreReader } from './reader.ts'
import type { OrganizationRecord } from './records.ts'
import { type Transaction, Transactions } from './transaction.ts'

/** Where everything of organizations is kept; tells those who watch access what has changed. */
export class OrganizationStore {
  readonly #kv: Kv
  readonly #bus: Bus
  readonly #events: Events
  readonly #transactions: Transactions
  readonly #isShared: boolean

  constructor({ kv, bus, cluster }: Pick<Engine, 'kv' | 'bus' | 'cluster'>, events: Events) {
    this.#isShared = cluster.isShared
    this.#kv = kv
    this.#bus = bus
    this.#events = events
    this.#transactions = new Transactions(kv)
  }

  /** For one call: what is read again is not sure to be as it was. */
  read(scope: OrganizationScope): Reader {
    return new StoreReader(this.#kv, organizationPart(scope))
  }

  /**
   * Changes an organization, with the record of what has happened; resolves when that is durable and told.
   * @throws ApiError ABORTED; what `work` throws
   */
  change<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.carryOut(scope, async (transaction) => {
      const result = await work(transaction)
      this.#events.recordNew(transaction, scope, occurrencesOf(scope, transaction.written()))
      return result
    })
  }

  /** Like `change`, for what follows from a change that has been recorded. */
  async carryOut<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const marked = async (transaction: Transaction): Promise<T> => {
      const result = await work(transaction)
      // Not read before: two changes do not have to wait for each other because of it.
      if (accessChangeOf(scope, transaction.written()) !== null)
        transaction.put(keys.accessMark, { id: randomUUID() })
      return result
    }
    const done = this.#isShared ? marked : work
    const { result, transaction } = await this.#transactions.run(organizationPart(scope), done)
    const change = accessChangeOf(scope, transaction.written())
    if (change !== null) this.#bus.publish(accessTopic, encodeAccessChange(change))
    if (transaction.enqueues(eventQueue)) this.#bus.publish(eventTopic, new Uint8Array())
    return result
  }
}

/** The organization's record; null when there is none, or it is being deleted. */
export async function findOrganization(reader: Reader): Promise<OrganizationRecord | null> {
  const record = await reader.get<OrganizationRecord>(keys.organization)
  return record === null || record.deleting === true ? null : record
}

/** @throws ApiError NOT_FOUND when there is no such organization */
export async function organizationOf(reader: Reader): Promise<OrganizationRecord> {
  const record = await findOrganization(reader)
  if (record === null) throw new ApiError('NOT_FOUND', 'the organization does not exist')
  return record
}
