import {
  CachingDirectoryReader,
  type DirectoryReader,
} from '../../../core/directory/store/directory-reader.ts'
import { emptyValue } from '../../../core/directory/store/records.ts'
import { type Transaction, TransactionRunner } from '../../../core/directory/store/transaction.ts'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { Job, Key, Kv, KvRange } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { deliveriesPart, deliveryKeys as keys } from './delivery-keys.ts'
import {
  type DeliveryState,
  type DeliveryStatus,
  deliveryStateType,
  editorMessageType,
  firstState,
  type MessageRecord,
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

/** Stores the messages of targets. Each target has its own partition. */
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
  async change<T>(address: TargetAddress, work: (change: DeliveryChange) => Promise<T>): Promise<T> {
    const { result } = await this.#transactions.run(deliveriesPart(address), (transaction) =>
      DeliveryChange.run(transaction, work),
    )
    return result
  }
}
