/**
 * The number of messages of a reader in one tick. It is a field of the reader, because a lookup would cost
 * more than the counting.
 */
export interface TickBudget {
  tick: number
  messages: number
}

export const newTickBudget = (): TickBudget => ({ tick: -1, messages: 0 })

/** A source of messages that can be paused. */
export interface PausableReader {
  /** Workspace of the reader. For each workspace, one deferred reader is read again per tick. */
  readonly workspaceId: string
  pauseReading(): void
  resumeReading(): void
}

/** A reader with a budget for each tick. */
export interface BudgetedReader extends PausableReader {
  /** Create the budget with `newTickBudget`. */
  readonly budget: TickBudget
}

/**
 * Pauses sockets while too many bytes wait to be durable. TCP then slows down the senders, and memory stays
 * bounded. Reading continues when half of the limit is free.
 *
 * A socket that exceeds its budget of one tick must wait for a later tick. Otherwise the kernel would deliver
 * megabytes of small messages in one tick, and all other clients would wait. Each tick, one waiting socket of
 * each workspace is read, so that a workspace does not gain from more sockets.
 */
export class ReadBackpressure {
  readonly #pendingBytes: () => number
  readonly #pendingBytesMax: number
  readonly #onExceeded: () => void
  /** Readers that wait until fewer bytes are pending. */
  readonly #paused = new Set<PausableReader>()
  /** Readers that wait for a later tick, in order of arrival, by workspace. */
  readonly #deferred = new Map<string, Set<PausableReader>>()
  #state: 'begun' | 'ended' = 'ended'
  /** Number of the current tick. */
  #tick = 0
  #timer: NodeJS.Timeout | null = null

  /** Interval of checks while readers are paused, in ms. */
  static readonly pollMs = 5
  /**
   * Maximum number of messages that a reader may deliver in one tick. All messages of the same read (64 KB)
   * are still processed.
   */
  static readonly messagesPerTick = 100

  /** @param onExceeded called when a reader is paused because too many bytes are pending */
  constructor(pendingBytes: () => number, pendingBytesMax: number, onExceeded: () => void) {
    this.#pendingBytes = pendingBytes
    this.#onExceeded = onExceeded
    this.#pendingBytesMax = pendingBytesMax
  }

  /**
   * Must be called after each message of `reader`. Pauses the reader if it exceeds its budget or too many
   * bytes are pending.
   */
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
    // A paused reader may still deliver messages that were read before.
    if (budget.messages >= ReadBackpressure.messagesPerTick && this.#defer(reader)) reader.pauseReading()
  }

  forget(reader: PausableReader): void {
    this.#paused.delete(reader)
    this.#undefer(reader)
  }

  #pause(reader: PausableReader): void {
    // A reader that waits for a later tick is already paused, and must be resumed only once.
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

  /** Makes the reader wait for a later tick. Returns false if it was already waiting. */
  #defer(reader: PausableReader): boolean {
    const readers = this.#deferred.get(reader.workspaceId) ?? new Set()
    const isNew = !readers.has(reader)
    this.#deferred.set(reader.workspaceId, readers.add(reader))
    return isNew
  }

  /** Removes the reader from the deferred readers. Returns true if it was waiting for a later tick. */
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
