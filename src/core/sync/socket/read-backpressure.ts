import { runUntraced } from '../../base/current-trace.ts'
import {
  type BudgetedReader,
  bytesPerPiece,
  type PausableReader,
  type TickShares,
} from '../../quota/tick-shares.ts'

/**
 * Pauses sockets while too many bytes wait to be durable. TCP then slows down the senders, and memory stays
 * bounded. The sockets are read again when the waiting bytes are at most half of the limit.
 * A reader that delivers too many frames in one tick waits for a later tick (see `TickShares`).
 */
export class ReadBackpressure {
  readonly #shares: TickShares
  readonly #queuedBytes: () => number
  readonly #readPauseBytes: number
  readonly #onExceeded: () => void
  /** Paused readers that wait until fewer bytes are queued. */
  readonly #paused = new Set<PausableReader>()
  #timer: NodeJS.Timeout | null = null

  /** Milliseconds between two checks of the queued bytes while readers are paused. */
  static readonly pollMs = 5
  /** @param onExceeded called when a reader is paused because too many bytes are queued */
  constructor(shares: TickShares, queuedBytes: () => number, readPauseBytes: number, onExceeded: () => void) {
    this.#shares = shares
    this.#queuedBytes = queuedBytes
    this.#onExceeded = onExceeded
    this.#readPauseBytes = readPauseBytes
  }

  /**
   * Counts frames of `reader`, by default one message, and bytes of messages. Pauses the reader if it has used up its
   * budget or too many bytes are queued. Must be called after each message, and for frames that belong to none.
   */
  check(reader: BudgetedReader, frames = 1, bytes = 0): void {
    if (this.#paused.has(reader)) return
    if (this.#queuedBytes() > this.#readPauseBytes) return this.#pause(reader)
    this.#shares.count(reader, frames + bytes / bytesPerPiece)
  }

  /** Counts received bytes of an incomplete message. Pauses the reader if it has used up its budget. */
  received(reader: BudgetedReader, bytes: number): void {
    if (!this.#paused.has(reader)) this.#shares.count(reader, bytes / bytesPerPiece)
  }

  forget(reader: PausableReader): void {
    this.#paused.delete(reader)
    this.#shares.forget(reader)
  }

  #pause(reader: PausableReader): void {
    // A reader that waits for its tick is already paused. It must not be paused a second time, because it is resumed
    // only once.
    if (!this.#shares.forget(reader)) reader.pauseReading()
    this.#paused.add(reader)
    this.#onExceeded()
    this.#timer ??= runUntraced(() => setInterval(() => this.#release(), ReadBackpressure.pollMs)).unref()
  }

  #release(): void {
    if (this.#queuedBytes() > this.#readPauseBytes / 2) return
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
