/**
 * Reads bytes and numbers of LevelDB and Snappy data in sequence. Numbers are little endian.
 * @throws RangeError if a read exceeds the end of the data
 */
export class ByteCursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** Reads a number that is 1 to 4 bytes long. */
  number(bytes: number): number {
    this.#at += bytes
    return this.#bytes.readUIntLE(this.#at - bytes, bytes)
  }

  /**
   * Reads a number of variable length, with seven bits in each byte. The highest bit of a byte states whether
   * another byte follows.
   */
  varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.number(1)
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }

  bytes(count: number): Buffer {
    if (count > this.left) throw new RangeError('past the end')
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }
}
