/**
 * Maximum bytes of updates of all documents that wait to be appended. If more bytes wait, the store is too
 * slow.
 */
export const queuedBytesMax = 67_108_864

/** Counts bytes of updates that wait. */
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
