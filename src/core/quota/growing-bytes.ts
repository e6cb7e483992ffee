/**
 * Bytes that arrive in chunks. They are copied into one buffer, because each small chunk would take a multiple of its
 * bytes in memory. The buffer doubles when it is full, so it takes at most twice the most bytes that it has had.
 */
export class GrowingBytes {
  readonly #bytesMax: number
  #bytes = Buffer.alloc(0)
  length = 0

  /** @param bytesMax maximum number of bytes that are added; the buffer does not become larger */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes that the buffer takes in memory. */
  get capacity(): number {
    return this.#bytes.length
  }

  add(chunk: Uint8Array): void {
    const length = this.length + chunk.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(Math.min(2 * this.#bytes.length, this.#bytesMax), length))
      this.#bytes.copy(larger, 0, 0, this.length)
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.length)
    this.length = length
  }

  /** Removes the bytes. They are valid until the next call of `add`. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length)
    this.length = 0
    return taken
  }
}
