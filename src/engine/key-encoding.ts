import type { Key } from './engine.ts'

/**
 * Encodes keys as bytes whose order is the order of the keys: segment by segment, each by code point. After
 * the tuple layer of FoundationDB (https://github.com/apple/foundationdb/blob/main/design/tuple.md): a
 * segment is 02, its UTF-8 with 00 written as 00 FF, and 00. UTF-8 has no FF, so no byte within a segment can
 * end it, and all keys that start with the same segments form one range.
 */
const segmentStart = 0x02
const segmentEnd = 0x00
const escapedNul = Buffer.from([0x00, 0xff])
/**
 * Follows a whole key inside a longer one. It is smaller than the start of a further segment, so that the two
 * never mix.
 */
export const keyEnd = 0x01
/** Greater than any byte that can follow a key. */
const afterAll = Buffer.from([0xff])
const justAfter = Buffer.from([0x00])

/** Keys from `gte` up to, and not including, `lt`. */
export interface ByteRange {
  readonly gte: Buffer
  readonly lt: Buffer
}

/**
 * Encodes a key.
 * @throws TypeError if a segment is not well-formed Unicode: two such segments would have the same bytes
 */
export function encodeKey(key: Key): Buffer {
  let text = ''
  let hasNul = false
  for (const segment of key) {
    if (!segment.isWellFormed()) throw new TypeError('a key segment is not well-formed Unicode')
    if (segment.includes('\0')) hasNul = true
    text += `\u0002${segment}\0`
  }
  return hasNul ? Buffer.concat(key.map(encodeSegment)) : Buffer.from(text, 'utf8')
}

function encodeSegment(segment: string): Buffer {
  const parts: Buffer[] = [Buffer.of(segmentStart)]
  for (const [index, part] of segment.split('\0').entries()) {
    if (index > 0) parts.push(escapedNul)
    parts.push(Buffer.from(part, 'utf8'))
  }
  return Buffer.concat([...parts, Buffer.of(segmentEnd)])
}

/** Decodes a key. @throws RangeError if `bytes` are not an encoded key */
export function decodeKey(bytes: Uint8Array): Key {
  const key: string[] = []
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== segmentStart) throw new RangeError('not an encoded key')
    const end = segmentEndAt(bytes, at + 1)
    key.push(decodeSegment(bytes.subarray(at + 1, end)))
    at = end + 1
  }
  return key
}

/**
 * Decodes a whole key and the key that follows it (see `keyEnd`).
 * @throws RangeError if `bytes` are not such a pair
 */
export function decodeKeyPair(bytes: Uint8Array): readonly [Key, Key] {
  const [key, rest] = splitKey(bytes)
  return [key, decodeKey(rest)]
}

/**
 * Decodes a whole key and returns the bytes after its end.
 * @throws RangeError if `bytes` do not start with a whole key
 */
export function splitKey<B extends Uint8Array>(bytes: B): readonly [Key, B] {
  let at = 0
  while (bytes[at] === segmentStart) at = segmentEndAt(bytes, at + 1) + 1
  if (bytes[at] !== keyEnd) throw new RangeError('not an encoded key with its end')
  return [decodeKey(bytes.subarray(0, at)), bytes.subarray(at + 1) as B]
}

function segmentEndAt(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(segmentEnd, from)
  while (end !== -1 && bytes[end + 1] === 0xff) end = bytes.indexOf(segmentEnd, end + 2)
  if (end === -1) throw new RangeError('not an encoded key')
  return end
}

/** Latin-1 has one character for each byte, so the escape is always two characters. */
function decodeSegment(escaped: Uint8Array): string {
  const bytes = Buffer.from(escaped.buffer, escaped.byteOffset, escaped.length)
  if (!bytes.includes(0)) return bytes.toString('utf8')
  return Buffer.from(bytes.toString('latin1').replaceAll('\0\u00ff', '\0'), 'latin1').toString('utf8')
}

/**
 * Writes eight bytes, big endian, which sort like the numbers.
 * @throws RangeError unless `value` is a safe integer from 0
 */
export function writeNumber(bytes: Buffer, value: number, at: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a whole number from 0: ${value}`)
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  bytes.writeUInt32BE(value % 2 ** 32, at + 4)
}

/** Like `writeNumber`. */
export function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  writeNumber(bytes, value, 0)
  return bytes
}

export const decodeNumber = (bytes: Buffer, at: number): number =>
  bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)

/** Returns the range of everything in `space` that starts with `bytes`. */
export const rangeOf = (space: Uint8Array): ByteRange => ({
  gte: Buffer.from(space),
  lt: Buffer.concat([space, afterAll]),
})

/**
 * Returns the range of the keys of `space` that start with `prefix` and follow `after` (precede it with
 * `reverse`).
 */
export function keyRange(
  space: Uint8Array,
  { prefix = [], after, reverse = false }: { prefix?: Key; after?: Key | undefined; reverse?: boolean },
): ByteRange {
  const range = rangeOf(Buffer.concat([space, encodeKey(prefix)]))
  if (after === undefined) return range
  const bound = Buffer.concat([space, encodeKey(after)])
  if (reverse) return { gte: range.gte, lt: smaller(range.lt, bound) }
  return { gte: larger(range.gte, Buffer.concat([bound, justAfter])), lt: range.lt }
}

const smaller = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) < 0 ? a : b)
const larger = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) > 0 ? a : b)

/**
 * Returns a unique name of a key for a Map. It is less expensive than the encoded bytes and does not keep
 * their order.
 */
export function keyName(key: Key): string {
  // Joined, not concatenated step by step: V8 would keep a tree of the pieces, which is several times as
  // large.
  return key.map((segment) => `${segment.length}:${segment}`).join('')
}

/**
 * Caches the name of each object. A room passes the same address for every commit, and computing the name
 * costs more than the work that uses it.
 */
export function cachedKeyNames<Of extends object>(nameOf: (of: Of) => string): (of: Of) => string {
  const names = new WeakMap<Of, string>()
  return (of) => {
    const known = names.get(of)
    if (known !== undefined) return known
    const name = nameOf(of)
    names.set(of, name)
    return name
  }
}

/** Returns the last segment of a key, such as the id in an index entry. @throws RangeError if it has none */
export function lastSegment(key: Key): string {
  const last = key.at(-1)
  if (last === undefined) throw new RangeError('the key has no segments')
  return last
}
