/**
 * Maximum bytes of updates, of all documents together, that wait to be appended. If more bytes wait, the
 * store is too slow.
 */
const queuedBytesMax = 67_108_864

/** Counts the bytes of updates that wait, and compares them with a maximum. */
export class AppendBacklog {
  #bytes = 0
  readonly #max: number

  constructor(max = queuedBytesMax) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#bytes > this.#max
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  remove(bytes: number): void {
    this.#bytes -= bytes
  }
}
