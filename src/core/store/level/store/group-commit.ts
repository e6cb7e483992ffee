import { isSameBytes } from '../../../base/bytes.ts'
import { runUntraced } from '../../../base/current-trace.ts'
import { errorMessage } from '../../../base/errors.ts'
import { StoreUnavailableError } from '../../engine.ts'
import type { ReopeningStore } from './reopening-store.ts'
import type { BatchOperation } from './store.ts'

/**
 * A caller that waits until a group is written. The waiters are called in the order in which they called
 * `wait`.
 */
export interface WriteWaiter {
  durable(): void
  lost(error: StoreUnavailableError): void
}

/** Operations that are written in one batch, so that they become durable together. */
interface Group {
  readonly operations: BatchOperation[]
  /**
   * Puts of large values, which are written last. LevelDB copies a batch when it doubles its buffer for a further
   * operation.
   */
  large: BatchOperation[]
  readonly waiters: WriteWaiter[]
  bytes: number
}

/**
 * When the group of a write starts: as soon as possible (`now`), or together with the next `now` write
 * (`soon`).
 */
export type CommitUrgency = 'now' | 'soon'
/** Maximum delay of a `soon` write, in ms. */
const soonMs = 20

/**
 * Limits the rate of groups under load. If at least `waiters` callers are expected within `withinMs`, the
 * next group starts no earlier than `withinMs` after the start of the previous group. Each group costs a
 * write and a sync, independent of its size (measured: 0.1 to 0.2 ms of CPU). Without this limit, small
 * groups would take CPU time from interactive users.
 */
const crowd = { withinMs: 2, waiters: 4 }
/** Time constant in ms with which the average rate of waiters adapts to changes. */
const rateMs = 10

const emptyGroup = (): Group => ({ operations: [], large: [], waiters: [], bytes: 0 })

/** Bytes from which a value counts as large. */
const largeFrom = 262_144

/**
 * Default maximum of accepted bytes that are not yet durable. When it is reached, further writes are
 * rejected.
 */
export const pendingBytesMax = 64 * 1024 * 1024
/**
 * Number of bytes that each operation counts in addition to its key and value, because of its objects in
 * memory.
 */
const operationBytes = 64

/**
 * Group commit: the writes of one tick are written in one batch with one sync. While a batch is being
 * written, the next batch is collected. It starts when the previous one has ended. Operations that are added
 * without an `await` between them are in the same batch. They are therefore atomic.
 */
export class GroupCommit {
  readonly #disk: ReopeningStore
  readonly #bytesMax: number
  #gathering = emptyGroup()
  #writing: Group | null = null
  #scheduled = false
  #later: NodeJS.Timeout | null = null
  #reservedBytes = 0
  /** Start time of the last group, as `performance.now` returned it. */
  #begunAt = 0
  /** Average number of calls of `wait` per millisecond. */
  #rate = 0

  constructor(disk: ReopeningStore, bytesMax: number) {
    this.#disk = disk
    this.#bytesMax = bytesMax
  }

  pendingBytes(): number {
    return this.#reservedBytes + this.#gathering.bytes + (this.#writing?.bytes ?? 0)
  }

  /**
   * Checks that the limit of pending bytes is not reached. Call this method before a call changes anything.
   * @throws StoreUnavailableError if the limit is reached, or if the store does not accept writes
   */
  admit(): void {
    this.#disk.admit()
    if (this.pendingBytes() > this.#bytesMax)
      throw new StoreUnavailableError('too many bytes wait for the disk')
  }

  /**
   * Adds `bytes` to the pending bytes. Used for an accepted call that must wait before it can add its
   * operations. Returns the function that subtracts the bytes again.
   */
  reserve(bytes: number): () => void {
    this.#reservedBytes += bytes
    return () => {
      this.#reservedBytes -= bytes
    }
  }

  put(key: Uint8Array, value: Uint8Array, pace: CommitUrgency = 'now'): void {
    this.#add({ key, value }, value.length, pace)
  }

  delete(key: Uint8Array, pace: CommitUrgency = 'now'): void {
    this.#add({ key, value: null }, 0, pace)
  }

  /**
   * Calls `waiter.durable` when all operations that were added so far are durable. Calls `waiter.lost`
   * instead if it is unknown whether they are durable.
   */
  wait(waiter: WriteWaiter, pace: CommitUrgency = 'now'): void {
    this.#gathering.waiters.push(waiter)
    this.#schedule(pace)
  }

  /**
   * Resolves when all operations that were added so far are durable.
   * @throws StoreUnavailableError if it is unknown whether they are durable
   */
  durable(pace: CommitUrgency = 'now'): Promise<void> {
    return new Promise((resolve, reject) => this.wait({ durable: resolve, lost: reject }, pace))
  }

  /**
   * Gives up the pending groups. Their waiters get `error`, because it is unknown whether the groups were
   * written.
   */
  abandon(error: StoreUnavailableError): void {
    const groups = [this.#writing, this.#gathering]
    this.#writing = null
    this.#gathering = emptyGroup()
    for (const group of groups) for (const waiter of group?.waiters ?? []) waiter.lost(error)
  }

  #add(operation: BatchOperation, valueBytes: number, pace: CommitUrgency): void {
    const group = this.#gathering
    if (valueBytes >= largeFrom) group.large.push(operation)
    else {
      // The later operation of a key decides.
      if (group.large.length > 0)
        group.large = group.large.filter(({ key }) => !isSameBytes(key, operation.key))
      group.operations.push(operation)
    }
    group.bytes += operationBytes + operation.key.length + valueBytes
    this.#schedule(pace)
  }

  #schedule(pace: CommitUrgency): void {
    if (pace === 'soon') return this.#scheduleSoon()
    if (this.#scheduled || this.#writing !== null) return
    this.#scheduled = true
    const restMs = this.#restMs()
    // A group has writes of many callers, so it belongs to the trace of none.
    runUntraced(() => (restMs > 0 ? setTimeout(this.#begin, restMs) : setImmediate(this.#begin)))
  }

  readonly #begin = (): void => {
    this.#scheduled = false
    this.#writeAll()
  }

  /** Returns the time in ms for which the next group must wait; 0 if few waiters are expected. */
  #restMs(): number {
    if (this.#rate * crowd.withinMs < crowd.waiters) return 0
    return Math.max(0, Math.round(this.#begunAt + crowd.withinMs - performance.now()))
  }

  #noteRate(waiters: number): void {
    const now = performance.now()
    const elapsedMs = Math.max(0.05, now - this.#begunAt)
    this.#rate += (waiters / elapsedMs - this.#rate) * (1 - Math.exp(-elapsedMs / rateMs))
    this.#begunAt = now
  }

  /** Schedules the next group to start after `soonMs`. Does nothing if it is already scheduled. */
  #scheduleSoon(): void {
    if (this.#later !== null) return
    this.#later = runUntraced(() =>
      setTimeout(() => {
        this.#later = null
        this.#schedule('now')
      }, soonMs),
    )
  }

  #writeAll(): void {
    if (this.#writing !== null || this.#isEmpty) return
    const group = this.#gathering
    this.#writing = group
    this.#gathering = emptyGroup()
    this.#noteRate(group.waiters.length)
    const operations = group.large.length > 0 ? [...group.operations, ...group.large] : group.operations
    const written = operations.length > 0 ? this.#disk.write(operations) : nothing
    // Callbacks instead of `await`: each batch makes one promise here.
    written.then(
      () => this.#ended(group, null),
      (error: unknown) => this.#ended(group, unknownOutcome(error)),
    )
  }

  #ended(group: Group, failure: StoreUnavailableError | null): void {
    // If the group was given up in the meantime, another group may be in progress.
    if (this.#writing !== group) return
    this.#writing = null
    if (failure === null) for (const waiter of group.waiters) waiter.durable()
    else for (const waiter of group.waiters) waiter.lost(failure)
    if (this.#restMs() === 0) this.#writeAll()
    else if (!this.#isEmpty) this.#schedule('now')
  }

  get #isEmpty(): boolean {
    const { waiters, operations, large } = this.#gathering
    return waiters.length + operations.length + large.length === 0
  }
}

const nothing = Promise.resolve()

const unknownOutcome = (error: unknown): StoreUnavailableError =>
  error instanceof StoreUnavailableError
    ? error
    : new StoreUnavailableError(errorMessage(error), { cause: error })
