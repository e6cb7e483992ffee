import { isAscii, isUtf8 } from 'node:buffer'
import { MalformedUpdateError } from './malformed.ts'

/**
 * Client ids have 32 bits. Clocks and lengths stay below 2^31, so that no sum of them leaves the safe range.
 */
export const clientIdMax = 2 ** 32 - 1
export const clockMax = 2 ** 31 - 1
/** The largest number that a reader accepts. */
export const varUintMax = 2 ** 32 - 1

/** Longer texts are checked by native code: calling it costs as much as a loop over a hundred bytes. */
const nativeFrom = 256

/**
 * Walks over lib0-encoded bytes without creating values. Every read is bounded by the end of the bytes.
 * Numbers beyond 32 bits are rejected, although lib0 accepts them up to 2^53.
 */
export class ByteReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
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

  /** Reads a variable-length unsigned integer below 2^32. */
  varUint(): number {
    const { bytes } = this
    let value = bytes[this.at++]
    if (value === undefined) throw new MalformedUpdateError('it ends in the middle')
    if (value < 128) return value
    value &= 127
    for (let scale = 128; scale <= 2 ** 28; scale *= 128) {
      const next = bytes[this.at++]
      if (next === undefined) throw new MalformedUpdateError('it ends in the middle')
      value += (next & 127) * scale
      if (next < 128) {
        if (value > varUintMax) break
        return value
      }
    }
    throw new MalformedUpdateError('a number is too large')
  }

  /** Reads a number of things that follow, each of at least `bytesEach` bytes. */
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

  /** Skips a variable-length signed integer of at most 53 bits, which lib0 writes for whole numbers. */
  skipVarInt(): void {
    for (let length = 0; length < 8; length++) if (this.byte() < 128) return
    throw new MalformedUpdateError('a number is too large')
  }

  skip(count: number): void {
    if (count > this.left) throw new MalformedUpdateError('it ends in the middle')
    this.at += count
  }

  /** Skips a length-prefixed string; returns its length in UTF-16 code units, as Yjs counts. */
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
      if ((bytes[index] as number) > 127) return utf16Length(bytes.subarray(start, this.at))
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

/** Yjs decodes strictly: an invalid sequence would throw inside it. */
function utf16Length(bytes: Uint8Array): number {
  if (!isUtf8(bytes)) throw new MalformedUpdateError('a text is not UTF-8')
  if (bytes.length > nativeFrom)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().length
  let length = 0
  for (const byte of bytes) {
    if ((byte & 0xc0) !== 0x80) length += byte >= 0xf0 ? 2 : 1
  }
  return length
}
