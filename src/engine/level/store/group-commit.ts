import { errorMessage } from '../../../errors.ts'
import { StoreUnavailableError } from '../../engine.ts'
import type { ReopeningStore } from './reopening-store.ts'
import type { BatchOperation } from './store.ts'

/** Who waits for a group; told in the order of `wait`. */
export interface WriteWaiter {
  durable(): void
  lost(error: StoreUnavailableError): void
}

/** Operations that become durable together. */
interface Group {
  readonly operations: BatchOperation[]
  readonly waiters: WriteWaiter[]
  bytes: number
}

/** When what is added is to be written: as soon as possible, or with what comes next. */
export type CommitUrgency = 'now' | 'soon'
/** The longest that something that is to be written soon waits for company, in ms. */
const soonMs = 20

/**
 * Where so many would come together within this time, a group is begun no sooner after the one before: each costs a
 * write and a sync however few it holds (measured: 0.1 to 0.2 ms of CPU), and many small ones take from those who type.
 */
const crowd = { withinMs: 2, waiters: 4 }
/** How long the rate at which waiters come is remembered, in ms. */
const rateMs = 10

const emptyGroup = (): Group => ({ operations: [], waiters: [], bytes: 0 })

/** Accepted but not yet durable bytes, beyond which nothing more is accepted. */
export const pendingBytesMax = 64 * 1024 * 1024
/** An operation costs at least this much memory, however small. */
const operationBytes = 64

/**
 * Group commit: what is written in one turn of the event loop becomes one batch with one sync; while it is on its
 * way the next one gathers, and starts as soon as it is done. What is added without an `await` in between is atomic.
 */
export class GroupCommit {
  readonly #disk: ReopeningStore
  readonly #bytesMax: number
  #gathering = emptyGroup()
  #writing: Group | null = null
  #scheduled = false
  #later: NodeJS.Timeout | null = null
  #reservedBytes = 0
  /** When the last group was begun, as `performance.now` tells. */
  #begunAt = 0
  /** Waiters a millisecond. */
  #rate = 0

  constructor(disk: ReopeningStore, bytesMax: number) {
    this.#disk = disk
    this.#bytesMax = bytesMax
  }

  pendingBytes(): number {
    return this.#reservedBytes + this.#gathering.bytes + (this.#writing?.bytes ?? 0)
  }

  /** To be asked before a call changes anything. @throws StoreUnavailableError when nothing more is accepted */
  admit(): void {
    this.#disk.admit()
    if (this.pendingBytes() > this.#bytesMax)
      throw new StoreUnavailableError('too many bytes wait for the disk')
  }

  /** Counts bytes of a call that is accepted and waits for something else. Returns what ends that. */
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

  /** Tells `waiter` when all that has been added so far is durable. */
  wait(waiter: WriteWaiter, pace: CommitUrgency = 'now'): void {
    this.#gathering.waiters.push(waiter)
    this.#schedule(pace)
  }

  /** Resolves when all that has been added so far is durable. @throws StoreUnavailableError when that is unknown */
  durable(pace: CommitUrgency = 'now'): Promise<void> {
    return new Promise((resolve, reject) => this.wait({ durable: resolve, lost: reject }, pace))
  }

  /** Gives up what is pending: whether it was written is unknown. */
  abandon(error: StoreUnavailableError): void {
    const groups = [this.#writing, this.#gathering]
    this.#writing = null
    this.#gathering = emptyGroup()
    for (const group of groups) for (const waiter of group?.waiters ?? []) waiter.lost(error)
  }

  #add(operation: BatchOperation, valueBytes: number, pace: CommitUrgency): void {
    this.#gathering.operations.push(operation)
    this.#gathering.bytes += operationBytes + operation.key.length + valueBytes
    this.#schedule(pace)
  }

  #schedule(pace: CommitUrgency): void {
    if (pace === 'soon') return this.#scheduleSoon()
    if (this.#scheduled || this.#writing !== null) return
    this.#scheduled = true
    const restMs = this.#restMs()
    if (restMs > 0) setTimeout(this.#begin, restMs)
    else setImmediate(this.#begin)
  }

  readonly #begin = (): void => {
    this.#scheduled = false
    void this.#writeAll()
  }

  /** How long to wait for company: 0 where there is little to come. */
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

  /** Comes to nothing where somebody else has been quicker. */
  #scheduleSoon(): void {
    if (this.#later !== null) return
    this.#later = setTimeout(() => {
      this.#later = null
      this.#schedule('now')
    }, soonMs)
  }

  async #writeAll(): Promise<void> {
    if (this.#writing !== null || this.#isEmpty) return
    const group = this.#gathering
    this.#writing = group
    this.#gathering = emptyGroup()
    this.#noteRate(group.waiters.length)
    const failure = await this.#written(group)
    // Somebody gave it up meanwhile, and another may be on its way.
    if (this.#writing !== group) return
    this.#writing = null
    if (failure === null) for (const waiter of group.waiters) waiter.durable()
    else for (const waiter of group.waiters) waiter.lost(failure)
    if (this.#restMs() === 0) void this.#writeAll()
    else if (!this.#isEmpty) this.#schedule('now')
  }

  get #isEmpty(): boolean {
    return this.#gathering.waiters.length + this.#gathering.operations.length === 0
  }

  async #written(group: Group): Promise<StoreUnavailableError | null> {
    try {
      if (group.operations.length > 0) await this.#disk.write(group.operations)
      return null
    } catch (error) {
      return error instanceof StoreUnavailableError
        ? error
        : new StoreUnavailableError(errorMessage(error), { cause: error })
    }
  }
}
