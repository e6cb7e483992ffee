import { runUntraced } from '../../tracing/current-trace.ts'

/**
 * The number of messages and other frames that a reader has delivered in the tick with the number `tick`. Each reader has its
 * budget as a field, because a lookup would cost more than the counting.
 */
export interface TickBudget {
  tick: number
  frames: number
}

export const newTickBudget = (): TickBudget => ({ tick: -1, frames: 0 })

/** A source of messages that can be paused. */
export interface PausableReader {
  /** Workspace of the reader. In each tick, one deferred reader of each workspace is read again. */
  readonly workspaceId: string
  pauseReading(): void
  resumeReading(): void
}

/** A reader with a budget for each tick. */
export interface BudgetedReader extends PausableReader {
  /** The budget of the reader, created with `newTickBudget`. */
  readonly budget: TickBudget
}

/**
 * Pauses sockets while too many bytes wait to be durable. TCP then slows down the senders, and memory stays
 * bounded. The sockets are read again when the waiting bytes are at most half of the limit.
 *
 * A socket that delivers too many frames in one tick must wait for a later tick. Otherwise the kernel would
 * deliver megabytes of small frames in one tick, and all other clients would wait. In each tick, one
 * waiting socket of each workspace is read again. A workspace therefore gains nothing from more sockets.
 */
export class ReadBackpressure {
  readonly #pendingBytes: () => number
  readonly #pendingBytesMax: number
  readonly #onExceeded: () => void
  /** Paused readers that wait until fewer bytes are pending. */
  readonly #paused = new Set<PausableReader>()
  /** Paused readers that wait for a later tick, by workspace, in the order of their pauses. */
  readonly #deferred = new Map<string, Set<PausableReader>>()
  #state: 'begun' | 'ended' = 'ended'
  /** Number of the current tick. */
  #tick = 0
  #timer: NodeJS.Timeout | null = null

  /** Milliseconds between two checks of the pending bytes while readers are paused. */
  static readonly pollMs = 5
  /**
   * Maximum number of messages and other frames that a reader may deliver in one tick. The reader is paused
   * then; the remaining frames of the same read (64 KB) are still processed.
   */
  static readonly framesPerTick = 100

  /** @param onExceeded called when a reader is paused because too many bytes are pending */
  constructor(pendingBytes: () => number, pendingBytesMax: number, onExceeded: () => void) {
    this.#pendingBytes = pendingBytes
    this.#onExceeded = onExceeded
    this.#pendingBytesMax = pendingBytesMax
  }

  /**
   * Counts frames of `reader`, by default one message. Pauses the reader if it has used up its budget or too
   * many bytes are pending. Must be called after each message, and for frames that belong to none.
   */
  check(reader: BudgetedReader, frames = 1): void {
    if (this.#paused.has(reader)) return
    if (this.#pendingBytes() > this.#pendingBytesMax) return this.#pause(reader)
    this.#beginTick()
    const { budget } = reader
    if (budget.tick !== this.#tick) {
      budget.tick = this.#tick
      budget.frames = 0
    }
    budget.frames += frames
    // A deferred reader may still deliver messages that were already read. It must not be paused a second
    // time.
    if (budget.frames >= ReadBackpressure.framesPerTick && this.#defer(reader)) reader.pauseReading()
  }

  forget(reader: PausableReader): void {
    this.#paused.delete(reader)
    this.#undefer(reader)
  }

  #pause(reader: PausableReader): void {
    // A deferred reader is already paused. It must not be paused a second time, because it is resumed only
    // once.
    if (!this.#undefer(reader)) reader.pauseReading()
    this.#paused.add(reader)
    this.#onExceeded()
    this.#timer ??= runUntraced(() => setInterval(() => this.#release(), ReadBackpressure.pollMs)).unref()
  }

  #beginTick(): void {
    if (this.#state === 'begun') return
    this.#state = 'begun'
    runUntraced(() => setImmediate(this.#endTick))
  }

  readonly #endTick = (): void => {
    this.#state = 'ended'
    this.#tick += 1
    for (const [first] of this.#deferred.values()) {
      if (first === undefined) continue
      this.#undefer(first)
      first.resumeReading()
    }
    if (this.#deferred.size > 0) this.#beginTick()
  }

  /**
   * Adds a reader to the readers that wait for a later tick. Returns false if the reader was already waiting.
   */
  #defer(reader: PausableReader): boolean {
    const readers = this.#deferred.get(reader.workspaceId) ?? new Set()
    const isNew = !readers.has(reader)
    this.#deferred.set(reader.workspaceId, readers.add(reader))
    return isNew
  }

  /** Removes a reader from the readers that wait for a later tick. Returns true if the reader was waiting. */
  #undefer(reader: PausableReader): boolean {
    const readers = this.#deferred.get(reader.workspaceId)
    const wasDeferred = readers?.delete(reader) ?? false
    if (readers?.size === 0) this.#deferred.delete(reader.workspaceId)
    return wasDeferred
  }

  #release(): void {
    if (this.#pendingBytes() > this.#pendingBytesMax / 2) return
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    resumeAll(this.#paused)
  }
}

function resumeAll(paused: Set<PausableReader>): void {
  const readers = [...paused]
  paused.clear()
  for (const reader of readers) reader.resumeReading()
}
