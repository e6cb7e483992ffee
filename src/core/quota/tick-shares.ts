import { runUntraced } from '../base/current-trace.ts'

/**
 * Number of bytes that each frame of a websocket and each chunk of a body counts as, in addition to its content. The
 * server takes about as long for one without content as for 200 bytes of a large one.
 */
export const pieceCostBytes = 200

/**
 * Number of bytes of messages and bodies that count as one more piece in the budget of a tick. From one connection, Node
 * may deliver 32 reads of 64 KB in a tick.
 */
export const bytesPerPiece = 1_310

/**
 * The number of pieces that a reader has delivered in the tick with the number `tick`. Each reader has its budget as
 * a field, because a lookup would cost more than the counting.
 */
export interface TickBudget {
  tick: number
  pieces: number
}

export const newTickBudget = (): TickBudget => ({ tick: -1, pieces: 0 })

/** A source of messages that can be paused. */
export interface PausableReader {
  /**
   * Workspace of the reader; before authentication its address. In each tick, one waiting reader of each workspace is
   * read again.
   */
  readonly workspaceId: string
  pauseReading(): void
  resumeReading(): void
}

export interface BudgetedReader extends PausableReader {
  /** The budget of the reader, created with `newTickBudget`. Several readers may share one. */
  readonly budget: TickBudget
  /** The readers that share the budget. When it is used up, all of them wait for the next tick. */
  readonly sharers?: ReadonlySet<PausableReader>
}

/**
 * Limits the pieces of input that a reader delivers in one tick: messages and other frames of websockets, chunks of
 * bodies. Otherwise the kernel would deliver megabytes of small pieces in one tick, and all other clients would wait.
 * A reader that exceeds its share waits for a later tick. In each tick, one waiting reader of each workspace is read
 * again. A workspace therefore gains nothing from more connections.
 *
 * Readers that share a budget wait for the end of the tick if one of them uses it up. They are then read in a tick in
 * which no other waiting reader is read, because that one could use up the budget again before they are read.
 */
export class TickShares {
  /** Readers that wait for a later tick, by workspace, in the order of their pauses. */
  readonly #waiting = new Map<string, Set<PausableReader>>()
  /** Readers that wait because another one has used up the budget that they share. */
  readonly #sharers = new Set<PausableReader>()
  #state: 'begun' | 'ended' = 'ended'
  #tick = 0

  /**
   * Maximum number of pieces that a reader may deliver in one tick. The reader is paused then; pieces of the same read
   * may follow: 10 frames of a websocket, and all chunks of a body (64 KB).
   */
  static readonly piecesPerTick = 100

  /** Counts pieces of a reader, and pauses it if it has used up its budget. Must be called for all pieces. */
  count(reader: BudgetedReader, pieces: number): void {
    this.#beginTick()
    const { budget } = reader
    if (budget.tick !== this.#tick) {
      budget.tick = this.#tick
      budget.pieces = 0
    }
    const hadShare = budget.pieces < TickShares.piecesPerTick
    budget.pieces += pieces
    // A waiting reader may still deliver pieces that were already read. It must not be paused a second time.
    if (hadShare && budget.pieces >= TickShares.piecesPerTick && this.#wait(reader)) this.#pause(reader)
  }

  /** Pauses a new reader if the budget that it shares is used up in this tick. */
  enter(reader: BudgetedReader): void {
    const { budget } = reader
    if (budget.tick !== this.#tick || budget.pieces < TickShares.piecesPerTick) return
    this.#sharers.add(reader)
    reader.pauseReading()
  }

  /** Removes a reader without resuming it. Returns true if it was waiting. */
  forget(reader: PausableReader): boolean {
    if (this.#sharers.delete(reader)) return true
    const readers = this.#waiting.get(reader.workspaceId)
    const wasWaiting = readers?.delete(reader) ?? false
    if (readers?.size === 0) this.#waiting.delete(reader.workspaceId)
    return wasWaiting
  }

  #pause(reader: BudgetedReader): void {
    reader.pauseReading()
    for (const sharer of reader.sharers ?? []) {
      if (this.#sharers.has(sharer) || this.#waiting.get(sharer.workspaceId)?.has(sharer)) continue
      this.#sharers.add(sharer)
      sharer.pauseReading()
    }
  }

  /** Adds a waiting reader. Returns false if it was already waiting. */
  #wait(reader: PausableReader): boolean {
    const readers = this.#waiting.get(reader.workspaceId) ?? new Set()
    const isNew = !readers.has(reader)
    this.#waiting.set(reader.workspaceId, readers.add(reader))
    return isNew
  }

  #beginTick(): void {
    if (this.#state === 'begun') return
    this.#state = 'begun'
    runUntraced(() => setImmediate(this.#endTick))
  }

  readonly #endTick = (): void => {
    this.#state = 'ended'
    this.#tick += 1
    const resumed = this.#sharers.size > 0 ? [...this.#sharers] : this.#firstWaiting()
    for (const reader of resumed) {
      this.forget(reader)
      reader.resumeReading()
    }
    if (this.#waiting.size > 0) this.#beginTick()
  }

  /** Returns one waiting reader of each workspace. */
  #firstWaiting(): readonly PausableReader[] {
    return [...this.#waiting.values()].flatMap(([first]) => first ?? [])
  }
}
