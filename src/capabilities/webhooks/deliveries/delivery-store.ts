import {
  CachingDirectoryReader,
  type DirectoryReader,
} from '../../../core/directory/store/directory-reader.ts'
import { emptyValue } from '../../../core/directory/store/records.ts'
import { type Transaction, TransactionRunner } from '../../../core/directory/store/transaction.ts'
import { orderAt, type QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { CheckLease } from '../../../core/jobs/task-worker.ts'
import type { OrganizationAddress } from '../../../core/model/address.ts'
import type { Job, Key, Kv, KvRange } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { subscriptionLimits } from '../limits.ts'
import { basicTargetIds, fixedTargetIds, subscriptionKeys, subscriptionsPart } from '../webhook-records.ts'
import { deliveriesPart, deliveryKeys as keys } from './delivery-keys.ts'
import {
  type DeliveryState,
  type DeliveryStatus,
  deliveryStateType,
  editorMessageType,
  firstState,
  type MessageRecord,
  messageIdStart,
  messageRecordType,
  type TargetAddress,
} from './delivery-records.ts'

/**
 * Collects changes to the messages of a target in one transaction. Each change also updates the indexes and
 * counters.
 */
export class DeliveryChange {
  readonly #transaction: Transaction
  state: DeliveryState

  private constructor(transaction: Transaction, state: DeliveryState) {
    this.#transaction = transaction
    this.state = state
  }

  /**
   * Runs `work` in a transaction. The state of the deliveries is read first, and every change writes it.
   * Concurrent changes therefore conflict, and `work` never uses an outdated scan.
   */
  static async run<T>(transaction: Transaction, work: (change: DeliveryChange) => Promise<T>): Promise<T> {
    const state = await transaction.get(keys.state, deliveryStateType)
    const change = new DeliveryChange(transaction, state ?? firstState)
    const result = await work(change)
    if (change.state !== state && transaction.written().length > 0) transaction.put(keys.state, change.state)
    return result
  }

  /** Returns the messages with these ids, in the order of the ids; null for an id without a message. */
  get(ids: readonly string[]): Promise<readonly (MessageRecord | null)[]> {
    return this.#transaction.getAll(ids.map(keys.message), messageRecordType)
  }

  /** Returns the messages of editors, in the order of their names; null for an editor without a message. */
  async ofEditors(names: readonly string[]): Promise<readonly (MessageRecord | null)[]> {
    const entries = await this.#transaction.getAll(names.map(keys.editor), editorMessageType)
    const messages = await this.get(entries.flatMap((entry) => entry?.messageId ?? []))
    const byId = new Map(messages.flatMap((message) => (message === null ? [] : [[message.id, message]])))
    return entries.map((entry) => byId.get(entry?.messageId ?? '') ?? null)
  }

  /**
   * Returns the first messages with a status, sorted by the time of their events.
   * @param after key of the index after which the result starts
   */
  first(status: DeliveryStatus, limit: number, after?: Key): Promise<readonly MessageRecord[]> {
    return this.#listed({ prefix: keys.by(status), limit, ...(after && { after }) })
  }

  /** Returns at most `limit` messages. */
  all(limit: number): Promise<readonly MessageRecord[]> {
    return this.#listed({ prefix: keys.messages, limit })
  }

  /** Returns at most `limit` messages for events of an organization. */
  ofOrganization(organizationId: string, limit: number): Promise<readonly MessageRecord[]> {
    return this.#listed({ prefix: keys.of(organizationId), limit })
  }

  async #listed(range: KvRange): Promise<readonly MessageRecord[]> {
    const entries = await this.#transaction.scan(range)
    const messages = await this.get(entries.map(({ key }) => lastSegment(key)))
    return messages.filter((message) => message !== null)
  }

  add(message: MessageRecord, event: QueuedEvent): void {
    this.#transaction.put(keys.event(message.id), event)
    this.#transaction.put(keys.ofOrganization(message.organizationId, message.id), emptyValue)
    if (message.progress !== undefined)
      this.#transaction.put(keys.editor(message.progress.editor), { messageId: message.id })
    this.#put(message)
  }

  replace(before: MessageRecord, after: MessageRecord): void {
    this.#unlist(before)
    this.#put(after)
  }

  remove(message: MessageRecord): void {
    const { id, organizationId } = message
    this.#unlist(message)
    this.#transaction.delete(keys.message(id))
    this.#transaction.delete(keys.event(id))
    this.#transaction.delete(keys.ofOrganization(organizationId, id))
    if (message.progress !== undefined) this.#transaction.delete(keys.editor(message.progress.editor))
  }

  enqueue(job: Job): void {
    this.#transaction.enqueue(job)
  }

  #put(message: MessageRecord): void {
    const { id, status, dueAt } = message
    this.#transaction.put(keys.message(id), message)
    this.#transaction.put(keys.byStatus(status, id), emptyValue)
    if (dueAt !== null) this.#transaction.put(keys.dueAt(dueAt, id), emptyValue)
    if (status === 'pending') this.#count(1)
  }

  #unlist({ id, status, dueAt }: MessageRecord): void {
    this.#transaction.delete(keys.byStatus(status, id))
    if (dueAt !== null) this.#transaction.delete(keys.dueAt(dueAt, id))
    if (status === 'pending') this.#count(-1)
  }

  #count(difference: number): void {
    this.state = { ...this.state, pending: this.state.pending + difference }
  }
}

/** Maximum number of messages that one commit removes. */
const messagesAtOnce = 200
/** Maximum number of keys that one commit removes. */
const keysAtOnce = 500

/**
 * Stores the messages of targets. Each target has its own partition. Each commit that removes messages is limited in
 * size, and `goOn` is called after it.
 */
export class DeliveryStore {
  readonly kv: Kv
  readonly #transactions: TransactionRunner

  constructor(kv: Kv) {
    this.kv = kv
    this.#transactions = new TransactionRunner(kv)
  }

  /**
   * Returns a reader that callers must use for one operation only. The reader caches records, so it may
   * return an outdated record when the same record is read again.
   */
  read(address: TargetAddress): DirectoryReader {
    return new CachingDirectoryReader(this.kv, deliveriesPart(address))
  }

  /**
   * Runs one change of the messages of a target. Changes of the same target run one after the other.
   * @throws ApiError ABORTED if conflicts with concurrent changes continue; the errors of `work`
   */
  change<T>(address: TargetAddress, work: (change: DeliveryChange) => Promise<T>): Promise<T> {
    return this.#transactions.run(deliveriesPart(address), (transaction) =>
      DeliveryChange.run(transaction, work),
    )
  }

  /**
   * Removes the succeeded and failed messages whose events are older than `before` (epoch milliseconds).
   * Returns whether the target still has messages.
   */
  async sweep(address: TargetAddress, before: number, goOn: CheckLease): Promise<boolean> {
    const end = messageIdStart + orderAt(before)
    for (const status of ['succeeded', 'failed'] as const)
      await this.#removeAll(address, goOn, async (change) => {
        const oldest = await change.first(status, messagesAtOnce)
        return oldest.filter(({ id }) => id < end)
      })
    return (await this.read(address).scan({ prefix: keys.messages, limit: 1 })).length > 0
  }

  /** Returns whether a target is a deleted endpoint. Its id is never used again. */
  async isTargetRemoved({ targetId, ...tenant }: TargetAddress): Promise<boolean> {
    if (basicTargetIds.includes(targetId)) return false
    const [endpoint] = await this.kv.get(subscriptionsPart(tenant), [subscriptionKeys.endpoint(targetId)])
    return endpoint === null
  }

  /**
   * Removes all messages of the callback `store` while it is not configured.
   * @param isOff returns whether it is not configured. A message that is added later stays
   */
  async clear(address: TargetAddress, isOff: () => Promise<boolean>, goOn: CheckLease): Promise<void> {
    await this.#removeAll(address, goOn, async (change) => {
      // Read before `isOff`: a message that arrives or changes afterwards is not removed.
      const messages = await change.all(messagesAtOnce)
      return (await isOff()) ? messages : []
    })
  }

  /** Removes all records of a deleted target. */
  async purge(address: TargetAddress, goOn: CheckLease): Promise<void> {
    const part = deliveriesPart(address)
    for (;;) {
      const entries = await this.kv.scan(part, { limit: keysAtOnce })
      if (entries.length === 0) return
      await this.kv.commit(part, { dels: entries.map(({ key }) => key) })
      await goOn()
    }
  }

  /** Removes the messages of all targets, also of inactive ones, for events of an organization; see `forget`. */
  async forgetOrganization(scope: OrganizationAddress, goOn: CheckLease): Promise<void> {
    const range = { prefix: subscriptionKeys.endpoints, limit: subscriptionLimits.endpoints }
    const entries = await this.kv.scan(subscriptionsPart(scope), range)
    await this.forget(scope, [...fixedTargetIds, ...entries.map(({ key }) => lastSegment(key))], goOn)
  }

  /**
   * Removes all messages for events of an organization. Pending messages are also removed, because no event
   * of a deleted organization is sent.
   */
  async forget(
    { workspaceId, apiKey, organizationId }: OrganizationAddress,
    targetIds: readonly string[],
    goOn: CheckLease,
  ): Promise<void> {
    for (const targetId of targetIds)
      await this.#removeAll({ workspaceId, apiKey, targetId }, goOn, (change) =>
        change.ofOrganization(organizationId, messagesAtOnce),
      )
  }

  /** @param next returns at most `messagesAtOnce` of the messages to remove; fewer if no more remain */
  async #removeAll(
    address: TargetAddress,
    goOn: CheckLease,
    next: (change: DeliveryChange) => Promise<readonly MessageRecord[]>,
  ): Promise<void> {
    const removeSome = () =>
      this.change(address, async (change) => {
        const messages = await next(change)
        for (const message of messages) change.remove(message)
        return messages.length === messagesAtOnce
      })
    while (await removeSome()) await goOn()
  }
}
