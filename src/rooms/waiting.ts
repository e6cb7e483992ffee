/** Bytes that are set aside at first. */
const firstBytes = 1_024

/**
 * Updates of one document that wait to be applied, one behind the other in one piece of memory: an object for each
 * would live just long enough to be moved twice by the garbage collector, which costs more than applying it.
 */
export class WaitingUpdates {
  #bytes: Buffer | null = null
  /** Where each of them ends. */
  readonly #ends: number[] = []

  get count(): number {
    return this.#ends.length
  }

  /** Keeps a copy. */
  add(update: Uint8Array): void {
    const start = this.#ends.at(-1) ?? 0
    const end = start + update.length
    this.#bytes = withRoom(this.#bytes, start, end)
    this.#bytes.set(update, start)
    this.#ends.push(end)
  }

  /** In the order in which they came; valid until `clear`. */
  all(): readonly Uint8Array[] {
    const bytes = this.#bytes
    if (bytes === null) return []
    return this.#ends.map((end, index) => bytes.subarray(index === 0 ? 0 : this.#ends[index - 1], end))
  }

  clear(): void {
    this.#bytes = null
    this.#ends.length = 0
  }
}

/** `bytes` with what is in it up to `used`, and room up to `end`. */
function withRoom(bytes: Buffer | null, used: number, end: number): Buffer {
  if (bytes !== null && bytes.length >= end) return bytes
  // Not of the shared pool: it would be kept as a whole.
  const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, used * 2, end))
  if (bytes !== null) larger.set(bytes.subarray(0, used))
  return larger
}
