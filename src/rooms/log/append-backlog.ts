/** Maximum bytes of updates, of all documents, that wait to be appended. With more the store is too slow. */
export const queuedBytesMax = 67_108_864

/** Counts bytes that wait. */
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
