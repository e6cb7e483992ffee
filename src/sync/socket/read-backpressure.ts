/** What a reader has taken in a turn: kept with the reader, because looking it up would cost more than counting. */
export interface TickBudget {
  tick: number
  messages: number
}

export const newTickBudget = (): TickBudget => ({ tick: -1, messages: 0 })

/** Something whose reading can be held up. */
export interface PausableReader {
  /** Who has one share of each turn in common, however many readers they are. */
  readonly workspaceId: string
  pauseReading(): void
  resumeReading(): void
}

/** A reader that has its share of each turn. */
export interface BudgetedReader extends PausableReader {
  /** Made by `newTickBudget`. */
  readonly budget: TickBudget
}

/**
 * Stops reading from sockets while more bytes wait for the disk than they should: TCP then slows the writers down,
 * and memory stays bounded. Half the limit must have been written before reading goes on.
 *
 * A socket that has more than its share of a turn of the event loop waits for the next: the kernel would hand over
 * megabytes of small messages at once, and everybody else would wait for them. Of those of one workspace that wait so,
 * one is read in each turn: with many sockets nobody gets more than with one.
 */
export class ReadBackpressure {
  readonly #pendingBytes: () => number
  readonly #pendingBytesMax: number
  readonly #onExceeded: () => void
  /** Until the disk has caught up. */
  readonly #paused = new Set<PausableReader>()
  /** Those who wait for a turn, the longest first, by workspace. */
  readonly #deferred = new Map<string, Set<PausableReader>>()
  #state: 'begun' | 'ended' = 'ended'
  /** Number of the turn. */
  #tick = 0
  #timer: NodeJS.Timeout | null = null

  /** How often to look whether the disk has caught up. */
  static readonly pollMs = 5
  /** After so many messages a reader waits for the next turn; those of the same read (64 KB) are taken all the same. */
  static readonly messagesPerTick = 100

  /** @param onExceeded called when a reader is held up for the disk */
  constructor(pendingBytes: () => number, pendingBytesMax: number, onExceeded: () => void) {
    this.#pendingBytes = pendingBytes
    this.#onExceeded = onExceeded
    this.#pendingBytesMax = pendingBytesMax
  }

  /** To be called after taking a message from `reader`. */
  check(reader: BudgetedReader): void {
    if (this.#paused.has(reader)) return
    if (this.#pendingBytes() > this.#pendingBytesMax) return this.#pause(reader)
    this.#beginTick()
    const { budget } = reader
    if (budget.tick !== this.#tick) {
      budget.tick = this.#tick
      budget.messages = 0
    }
    budget.messages += 1
    // One that waits may still say what was on its way.
    if (budget.messages >= ReadBackpressure.messagesPerTick && this.#defer(reader)) reader.pauseReading()
  }

  forget(reader: PausableReader): void {
    this.#paused.delete(reader)
    this.#undefer(reader)
  }

  #pause(reader: PausableReader): void {
    // One that waits for the next turn already is held up; it is let go on once.
    if (!this.#undefer(reader)) reader.pauseReading()
    this.#paused.add(reader)
    this.#onExceeded()
    this.#timer ??= setInterval(() => this.#release(), ReadBackpressure.pollMs).unref()
  }

  #beginTick(): void {
    if (this.#state === 'begun') return
    this.#state = 'begun'
    setImmediate(this.#endTick)
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

  /** False if it was waiting for a turn already. */
  #defer(reader: PausableReader): boolean {
    const readers = this.#deferred.get(reader.workspaceId) ?? new Set()
    const isNew = !readers.has(reader)
    this.#deferred.set(reader.workspaceId, readers.add(reader))
    return isNew
  }

  /** True if it was waiting for a turn. */
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
