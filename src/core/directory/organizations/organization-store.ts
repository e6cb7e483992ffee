import { randomUUID } from 'node:crypto'
import { ApiError } from '../../base/errors.ts'
import type { EventRecorder } from '../../events/event-recorder.ts'
import { eventQueue, eventTopic } from '../../events/outbound-event.ts'
import type { Bus, Engine, Kv } from '../../store/engine.ts'
import { CachingDirectoryReader, type DirectoryReader } from '../store/directory-reader.ts'
import { type ListPage, listingPages, type PageRange } from '../store/list-page.ts'
import { type OrganizationRecord, organizationRecordType } from '../store/records.ts'
import { type Mutation, Transaction, TransactionRunner } from '../store/transaction.ts'
import { type AccessChange, accessChangeOf, accessTopic, raisedBy } from './access-change.ts'
import { deriveActivities } from './derive-activities.ts'
import { keys, type OrganizationScope, organizationPart } from './organization-keys.ts'

/**
 * Reads and changes the records of organizations. After a change of access, publishes the change to all
 * nodes.
 */
export class OrganizationStore {
  readonly #kv: Kv
  readonly #bus: Bus
  readonly #events: EventRecorder
  readonly #transactions: TransactionRunner

  constructor({ kv, bus }: Pick<Engine, 'kv' | 'bus'>, events: EventRecorder) {
    this.#kv = kv
    this.#bus = bus
    this.#events = events
    this.#transactions = new TransactionRunner(kv)
  }

  /** Returns a reader for one call. Do not reuse it, because it caches records. */
  read(scope: OrganizationScope): DirectoryReader {
    return new CachingDirectoryReader(this.#kv, organizationPart(scope))
  }

  /** Like `read`. @throws ApiError NOT_FOUND if the organization does not exist */
  async readExisting(scope: OrganizationScope): Promise<DirectoryReader> {
    const reader = this.read(scope)
    await organizationOf(reader)
    return reader
  }

  /**
   * Yields the pages of a listing. Each page gets its own reader, because a reader caches all records that it has
   * read. If a client stops reading, the server keeps at most one page in memory for that client.
   * @throws ApiError NOT_FOUND if the organization does not exist, also if it was deleted after an earlier page
   */
  pages<Item>(
    scope: OrganizationScope,
    limit: number,
    list: (reader: DirectoryReader, range: PageRange) => Promise<ListPage<Item>>,
  ): AsyncGenerator<readonly Item[], void, undefined> {
    return listingPages(async (range) => list(await this.readExisting(scope), range), limit)
  }

  /**
   * Changes an organization and records the activities of the change. Resolves when the change is durable and
   * published.
   * @throws ApiError ABORTED if other changes keep conflicting; the errors of `work`
   */
  change<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#run(scope, work, (transaction, written) =>
      this.#events.recordNew(transaction, scope, deriveActivities(scope, written)),
    )
  }

  /** Like `change`. @throws ApiError NOT_FOUND if the organization does not exist */
  changeExisting<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.change(scope, async (transaction) => {
      await organizationOf(transaction)
      return work(transaction)
    })
  }

  /** Like `change`, for resources that were deleted and exist again: records the activities of new ones. */
  bringBack<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#run(scope, work, (transaction, written) => {
      const asNew = written.map((mutation) => ({ ...mutation, isNew: true }))
      this.#events.recordNew(transaction, scope, deriveActivities(scope, asNew))
    })
  }

  /** Runs `work` and returns its result, but writes nothing. */
  rehearse<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return work(new Transaction(this.#kv, organizationPart(scope)))
  }

  /**
   * Like `change`, but records no activities. Use this method for consequences of a change whose activities
   * are already recorded.
   */
  carryOut<T>(scope: OrganizationScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#run(scope, work, () => undefined)
  }

  async #run<T>(
    scope: OrganizationScope,
    work: (transaction: Transaction) => Promise<T>,
    record: (transaction: Transaction, written: readonly Mutation[]) => void,
  ): Promise<T> {
    let change: AccessChange | null = null
    const { movesTo } = scope
    const { result, transaction } = await this.#transactions.commit(
      organizationPart(scope),
      movesTo === undefined
        ? work
        : (made) => this.#moving({ ...scope, organizationId: movesTo }, made, work),
      (made) => {
        const written = made.written()
        record(made, written)
        made.raise(raisedBy(scope, written))
        change = accessChangeOf(scope, written)
        // This record is written without being read before, so that concurrent changes do not conflict because
        // of it.
        if (change !== null) made.put(keys.accessMark, { id: randomUUID() })
      },
    )
    if (change !== null) accessTopic.publish(this.#bus, change)
    if (transaction.enqueues(eventQueue)) this.#bus.publish(eventTopic, new Uint8Array())
    return result
  }

  /**
   * Runs `work`, then stores the entries that its writes replace in the partition of `target`, before they are
   * written. An entry that is there already stays, because an earlier slice has changed the record.
   */
  async #moving<T>(
    target: OrganizationScope,
    transaction: Transaction,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const result = await work(transaction)
    const entries = await transaction.replaced()
    if (entries.length === 0) return result
    const part = organizationPart(target)
    const there = await this.#kv.get(
      part,
      entries.map(({ key }) => key),
    )
    await this.#kv.commit(part, { puts: entries.filter((_, index) => (there[index] ?? null) === null) })
    return result
  }
}

export const noOrganization = (): ApiError =>
  new ApiError(
    'organization/not-found',
    'the organization does not exist; create it with /v2/organizations/add, or write with `upsert: true`',
  )

/**
 * Returns the record of the organization. Returns null if the organization does not exist or is being
 * deleted.
 */
export async function findOrganization(reader: DirectoryReader): Promise<OrganizationRecord | null> {
  const record = await reader.get(keys.organization, organizationRecordType)
  return record === null || record.deleting === true ? null : record
}

/**
 * Returns the record of the organization.
 * @throws ApiError NOT_FOUND if the organization does not exist or is being deleted
 */
export async function organizationOf(reader: DirectoryReader): Promise<OrganizationRecord> {
  const record = await findOrganization(reader)
  if (record === null) throw noOrganization()
  return record
}
