/** Something whose reading can be held up. */
export interface Reader {
  pauseReading(): void
  resumeReading(): void
}

/**
 * Stops reading from sockets while more bytes wait for the disk than they should: TCP then slows the writers down,
 * and memory stays bounded. Half the limit must have been written before reading goes on.
 */
export class ReadPressure {
  readonly #pendingBytes: () => number
  readonly #pendingBytesMax: number
  readonly #acted: () => void
  readonly #paused = new Set<Reader>()
  #timer: NodeJS.Timeout | null = null

  /** How often to look whether the disk has caught up. */
  static readonly pollMs = 5

  /** @param acted called when a reader is held up */
  constructor(pendingBytes: () => number, pendingBytesMax: number, acted: () => void) {
    this.#pendingBytes = pendingBytes
    this.#acted = acted
    this.#pendingBytesMax = pendingBytesMax
  }

  /** To be called after taking a message from `reader`. */
  check(reader: Reader): void {
    if (this.#pendingBytes() <= this.#pendingBytesMax || this.#paused.has(reader)) return
    this.#paused.add(reader)
    reader.pauseReading()
    this.#acted()
    this.#timer ??= setInterval(() => this.#release(), ReadPressure.pollMs).unref()
  }

  forget(reader: Reader): void {
    this.#paused.delete(reader)
  }

  #release(): void {
    if (this.#pendingBytes() > this.#pendingBytesMax / 2) return
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    const readers = [...this.#paused]
    this.#paused.clear()
    for (const reader of readers) reader.resumeReading()
  }
}
