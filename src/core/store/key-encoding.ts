import type { Tenant } from '../model/address.ts'
import type { Key } from './engine.ts'

/**
 * Byte that starts a segment, and byte that ends it. Keys are encoded so that the bytes sort like the keys:
 * segment by segment, each segment by code point. The encoding is that of the tuple layer of FoundationDB
 * (https://github.com/apple/foundationdb/blob/main/design/tuple.md). A segment is encoded as the byte 02, its
 * UTF-8 bytes with each 00 written as 00 FF, and the byte 00. UTF-8 never contains FF, so no byte within a
 * segment can be mistaken for its end. All keys that start with the same segments form one range.
 */
const segmentStart = 0x02
const segmentEnd = 0x00
const escapedNul = Buffer.from([0x00, 0xff])
/**
 * Byte between a complete key and the bytes that follow the key. It is smaller than `segmentStart`, so the
 * following bytes cannot be mistaken for a further segment of the key.
 */
export const keyEnd = 0x01
/** Byte that is greater than any byte that can follow a key. */
const afterAll = Buffer.from([0xff])
const justAfter = Buffer.from([0x00])
const nothing = new Uint8Array(0)

/** A range of encoded keys, from `gte` (included) to `lt` (excluded). */
export interface ByteRange {
  readonly gte: Buffer
  readonly lt: Buffer
}

/**
 * Encodes a key.
 * @throws TypeError if a segment is not well-formed Unicode, because different segments of this kind would
 * have the same bytes
 */
export const encodeKey = (key: Key): Buffer => encodeKeyAfter(nothing, key)

/** @throws TypeError like `encodeKey` */
export function checkKey(key: Key): void {
  for (const segment of key)
    if (!segment.isWellFormed()) throw new TypeError('a key segment is not well-formed Unicode')
}

/** Like `encodeKey`, but the bytes follow those of `space`. @throws TypeError like `encodeKey` */
export function encodeKeyAfter(space: Uint8Array, key: Key): Buffer {
  checkKey(key)
  let text = ''
  let hasNul = false
  for (const segment of key) {
    if (segment.includes('\0')) hasNul = true
    text += `\u0002${segment}\0`
  }
  if (hasNul) return Buffer.concat([space, ...key.map(encodeSegment)])
  if (space.length === 0) return Buffer.from(text, 'utf8')
  const bytes = Buffer.allocUnsafe(space.length + Buffer.byteLength(text))
  bytes.set(space)
  bytes.write(text, space.length)
  return bytes
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
 * Decodes two keys that are separated by `keyEnd`.
 * @throws RangeError if `bytes` do not contain two such keys
 */
export function decodeKeyPair(bytes: Uint8Array): readonly [Key, Key] {
  const [key, rest] = splitKey(bytes)
  return [key, decodeKey(rest)]
}

/**
 * Decodes the key at the start of `bytes`. Returns the key, and the bytes after the `keyEnd` that follows it.
 * @throws RangeError if `bytes` do not start with a key and `keyEnd`
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

/**
 * Decodes one segment and removes the escapes. First converts the bytes to a Latin-1 string, which has one
 * character for each byte, so that an escape is always two characters.
 */
function decodeSegment(escaped: Uint8Array): string {
  const bytes = Buffer.from(escaped.buffer, escaped.byteOffset, escaped.length)
  if (!bytes.includes(0)) return bytes.toString('utf8')
  return Buffer.from(bytes.toString('latin1').replaceAll('\0\u00ff', '\0'), 'latin1').toString('utf8')
}

/** @throws RangeError unless `value` is a safe integer and at least 0 */
export function checkNumber(value: number): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`not a whole number of 0 or more: ${value}`)
}

/**
 * Writes a number as eight bytes, big endian, so that the bytes sort like the numbers.
 * @throws RangeError unless `value` is a safe integer and at least 0
 */
export function writeNumber(bytes: Buffer, value: number, at: number): void {
  checkNumber(value)
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  bytes.writeUInt32BE(value % 2 ** 32, at + 4)
}

/** Returns a number as eight bytes, which sort like the numbers; see `writeNumber`. */
export function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  writeNumber(bytes, value, 0)
  return bytes
}

export const decodeNumber = (bytes: Buffer, at: number): number =>
  bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)

/** Returns the range of all keys that start with the bytes of `space`. */
export const rangeOf = (space: Uint8Array): ByteRange => ({
  gte: Buffer.from(space),
  lt: Buffer.concat([space, afterAll]),
})

/**
 * Returns the range of the keys in `space` that start with `prefix` and come after `after` (with `reverse`:
 * before `after`).
 */
export function keyRange(
  space: Uint8Array,
  { prefix = [], after, reverse = false }: { prefix?: Key; after?: Key | undefined; reverse?: boolean },
): ByteRange {
  const range = rangeOf(encodeKeyAfter(space, prefix))
  if (after === undefined) return range
  const bound = encodeKeyAfter(space, after)
  if (reverse) return { gte: range.gte, lt: smaller(range.lt, bound) }
  return { gte: larger(range.gte, Buffer.concat([bound, justAfter])), lt: range.lt }
}

const smaller = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) < 0 ? a : b)
const larger = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) > 0 ? a : b)

/**
 * Returns a text that identifies a key in a Map. Computing this text is less expensive than encoding the key,
 * but the texts do not sort like the keys.
 */
export function keyName(key: Key): string {
  // Uses `join`, because V8 would keep the pieces of a step-by-step concatenation as a tree, which needs
  // several times as much memory.
  return key.map((segment) => `${segment.length}:${segment}`).join('')
}

/**
 * Returns a function that computes the name of an object once and caches it. A room passes the same address
 * object with every commit, and computing the name of the address costs more than the work that uses the
 * name.
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

/**
 * Returns the last segment of a key, such as the id in an index entry.
 * @throws RangeError if the key is empty
 */
export function lastSegment(key: Key): string {
  const last = key.at(-1)
  if (last === undefined) throw new RangeError('the key has no segments')
  return last
}

/** Returns the name of a tenant as a key of a map. */
export const tenantName = ({ workspaceId, apiKey }: Tenant): string => keyName([workspaceId, apiKey])
