import { isAscii, isUtf8 } from 'node:buffer'
import { MalformedUpdateError } from './malformed.ts'

/**
 * Maximum clock, and maximum length of a struct. The limit makes all sums of clocks and lengths safe integers.
 * Client ids may have 53 bits, and those of Yjs 14 do.
 */
export const clockMax = 2 ** 31 - 1

const tooLarge = 'a number is too large, because it has more than 53 bits'

/**
 * Minimum bytes of a text that is checked by native code. For a shorter text, a loop in JavaScript is used,
 * because a native call costs as much as a loop over a hundred bytes.
 */
const nativeFrom = 256

/**
 * Reads bytes in the encoding of lib0, mostly without creating values. A read never goes beyond the end of
 * the bytes. Numbers have at most 53 bits, as in lib0.
 */
export class ByteReader {
  readonly bytes: Uint8Array
  /** True if the bytes were vetted before, so that JSON in them needs no second check. */
  readonly isVetted: boolean
  at = 0
  #valuesLeft: number

  constructor(bytes: Uint8Array, { isVetted = false, valuesMax = Number.POSITIVE_INFINITY } = {}) {
    this.bytes = bytes
    this.isVetted = isVetted
    this.#valuesLeft = valuesMax
  }

  /** Counts values before they are read. @throws MalformedUpdateError if there are more than `valuesMax` */
  countValues(count: number): void {
    this.#valuesLeft -= count
    if (this.#valuesLeft < 0) throw new MalformedUpdateError('it has too many values')
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  byte(): number {
    const value = this.bytes[this.at]
    if (value === undefined) throw new MalformedUpdateError('it ends in the middle')
    this.at += 1
    return value
  }

  /** Reads a variable-length unsigned integer below 2^53. */
  varUint(): number {
    const { bytes } = this
    let value = bytes[this.at++]
    if (value === undefined) throw new MalformedUpdateError('it ends in the middle')
    if (value < 128) return value
    value &= 127
    for (let scale = 128; scale <= 2 ** 49; scale *= 128) {
      const next = bytes[this.at++]
      if (next === undefined) throw new MalformedUpdateError('it ends in the middle')
      value += (next & 127) * scale
      if (next < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break
        return value
      }
    }
    throw new MalformedUpdateError(tooLarge)
  }

  /**
   * Reads the number of parts that follow. Rejects a number that the remaining bytes cannot contain, because
   * each part has at least `bytesEach` bytes.
   */
  count(bytesEach: number, countMax: number): number {
    const count = this.varUint()
    if (count * bytesEach > this.left) throw new MalformedUpdateError('it ends in the middle')
    if (count > countMax) throw new MalformedUpdateError(`it has more than ${countMax} parts of a kind`)
    return count
  }

  /** Reads a clock or a length. */
  clock(): number {
    const value = this.varUint()
    if (value > clockMax) throw new MalformedUpdateError('a clock is too large')
    return value
  }

  /** Skips a variable-length signed integer of at most 53 bits. lib0 encodes whole numbers in this form. */
  skipVarInt(): void {
    for (let length = 0; length < 8; length++) if (this.byte() < 128) return
    throw new MalformedUpdateError(tooLarge)
  }

  skip(count: number): void {
    if (count > this.left) throw new MalformedUpdateError('it ends in the middle')
    this.at += count
  }

  /** Skips a length-prefixed string. Returns its length in UTF-16 code units, as Yjs counts it. */
  skipString(): number {
    const byteLength = this.varUint()
    const start = this.at
    this.skip(byteLength)
    const { bytes } = this
    if (byteLength > nativeFrom) {
      const text = bytes.subarray(start, this.at)
      return isAscii(text) ? byteLength : utf16Length(text)
    }
    for (let index = start; index < this.at; index++) {
      if ((bytes[index] as number) > 127) return shortUtf16Length(bytes, start, this.at)
    }
    return byteLength
  }

  /** Reads a length-prefixed string of at most `bytesMax` bytes. */
  string(bytesMax: number): string {
    const start = this.at
    this.skipString()
    if (this.at - start > bytesMax) throw new MalformedUpdateError('a text is too long')
    this.at = start
    const byteLength = this.varUint()
    const from = this.at
    this.at += byteLength
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + from, byteLength).toString()
  }
}

const notUtf8 = (): MalformedUpdateError => new MalformedUpdateError('a text is not UTF-8')

/**
 * Returns the length of a UTF-8 text in UTF-16 code units. Rejects a text that is not valid UTF-8, because
 * Yjs decodes strictly and would throw.
 */
function utf16Length(bytes: Uint8Array): number {
  if (!isUtf8(bytes)) throw notUtf8()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().length
}

/** Like `utf16Length`, without native calls. */
function shortUtf16Length(bytes: Uint8Array, start: number, end: number): number {
  let length = 0
  for (let at = start; at < end; ) {
    const lead = bytes[at] as number
    const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    if (size > 1 && !isCharacter(bytes, at, Math.min(at + size, end), size)) throw notUtf8()
    length += size === 4 ? 2 : 1
    at += size
  }
  return length
}

/** Returns whether bytes are a character of `size` bytes (RFC 3629, section 4). */
function isCharacter(bytes: Uint8Array, start: number, end: number, size: number): boolean {
  const [lead, second] = [bytes[start] as number, bytes[start + 1] as number]
  if (lead < 0xc2 || lead > 0xf4 || end - start < size) return false
  const min = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const max = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (second < min || second > max) return false
  for (let at = start + 2; at < end; at++) if (((bytes[at] as number) & 0xc0) !== 0x80) return false
  return true
}
