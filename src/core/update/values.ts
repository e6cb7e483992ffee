import { limits } from '../model/limits.ts'
import type { ByteReader } from './byte-reader.ts'
import { MalformedUpdateError } from './malformed.ts'

/** Type bytes of values that `writeAny` of lib0 writes. */
const any = {
  array: 117,
  binary: 116,
  object: 118,
  string: 119,
  float64: 123,
  bigint: 122,
  float32: 124,
  integer: 125,
} as const
/** Type bytes of `undefined`, `null`, `false` and `true`. No bytes follow these type bytes. */
const constants = new Set([127, 126, 121, 120])

/** Maximum bytes of the name of an option of a subdocument. All known names are shorter. */
const optionBytesMax = 16

/**
 * A key that changes the prototype of a plain object when it is set. Yjs loses most values with this key. If
 * such a value is bytes, the object itself looks like bytes, and a Yjs document that has read it cannot be
 * encoded again.
 */
const prototypeKey = '__proto__'

/** Skips one value in the encoding of `writeAny`. The recursion is limited by the limit for nesting. */
export function skipAny(reader: ByteReader, depth = 0): void {
  reader.countValues(1)
  const type = reader.byte()
  if (constants.has(type)) return
  switch (type) {
    case any.integer:
      return reader.skipVarInt()
    case any.float32:
      return reader.skip(4)
    case any.float64:
    case any.bigint:
      return reader.skip(8)
    case any.string:
      return void reader.skipString()
    case any.binary:
      return reader.skip(reader.varUint())
    case any.array:
    case any.object:
      return skipMembers(reader, type === any.object, depth + 1)
    default:
      throw new MalformedUpdateError(`unknown kind of value ${type}`)
  }
}

function skipMembers(reader: ByteReader, keyed: boolean, depth: number): void {
  if (depth > limits.jsonDepth)
    throw new MalformedUpdateError(`values are nested deeper than ${limits.jsonDepth}`)
  // Yjs allocates an object, which takes about as long as two numbers.
  reader.countValues(1)
  const count = reader.varUint()
  if (count > reader.left) throw new MalformedUpdateError('it ends in the middle')
  for (let index = 0; index < count; index++) {
    if (keyed && skipKey(reader) && reader.bytes[reader.at] === any.binary)
      throw new MalformedUpdateError(
        `the value of the key ${prototypeKey} is bytes: Yjs could not encode it again`,
      )
    skipAny(reader, depth)
  }
}

/** Skips the key of a member. Returns whether the key is `prototypeKey`. */
function skipKey(reader: ByteReader): boolean {
  const start = reader.at
  reader.skipString()
  if (reader.at - start !== prototypeKey.length + 1) return false
  return Buffer.from(reader.bytes.subarray(start + 1, reader.at)).toString('latin1') === prototypeKey
}

/**
 * Names of the options that Yjs writes for a subdocument. With any other option, for example a second guid,
 * Yjs might not be able to write the subdocument again.
 */
const subdocumentOptions = ['gc', 'autoLoad', 'meta']

/** Skips and vets the options of a subdocument. */
export function skipSubdocumentOptions(reader: ByteReader): void {
  if (reader.byte() !== any.object)
    throw new MalformedUpdateError('the options of a subdocument are not an object')
  const count = reader.varUint()
  for (let index = 0; index < count; index++) {
    if (!subdocumentOptions.includes(reader.string(optionBytesMax))) {
      throw new MalformedUpdateError('unknown option of a subdocument')
    }
    skipAny(reader, 1)
  }
}

/**
 * Skips and vets a string that contains JSON, as in formatting values and embeds.
 * @param undefinedAllowed true if the text `undefined` is allowed, which stands for the value `undefined`
 */
export function skipJson(reader: ByteReader, undefinedAllowed = false): void {
  const start = reader.at
  reader.skipString()
  if (reader.isVetted) return
  const end = reader.at
  reader.at = start
  const length = reader.varUint()
  if (
    undefinedAllowed &&
    length === undefinedText.length &&
    undefinedText.compare(reader.bytes, reader.at, end) === 0
  ) {
    reader.at = end
    return
  }
  skipJsonText(reader, end)
}

const undefinedText = Buffer.from('undefined')

const codes = (text: string): readonly number[] => [...Buffer.from(text, 'latin1')]

const [quote = 0, backslash = 0, comma = 0, colon = 0, minus = 0, point = 0, zero = 0, nine = 0] =
  codes('"\\,:-.09')
const [openBracket = 0, closeBracket = 0, openBrace = 0, closeBrace = 0] = codes('[]{}')
const [unicodeEscape = 0] = codes('u')
const spaces = codes(' \t\n\r')
const signs = codes('+-')
const exponents = codes('eE')
const escapes = codes('"\\/bfnrt')
const hexDigits = codes('0123456789abcdefABCDEF')
const words = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), codes(word)]))

/** Number of hexadecimal digits of an escape such as `\u00e9`. */
const unicodeDigits = 4

/**
 * Vets a JSON text (RFC 8259) from the position of the reader to `end`. Accepts the texts that `JSON.parse` accepts,
 * but creates no values, which takes a tenth of the time for short texts. Counts each array, object and comma as a
 * value. The caller must have checked that the bytes are UTF-8.
 * @throws MalformedUpdateError
 */
function skipJsonText(reader: ByteReader, end: number): void {
  const at = afterSpaces(reader.bytes, afterValue(reader, reader.at, end, 0), end)
  if (at !== end) throw notJson()
  reader.at = end
}

const notJson = (): MalformedUpdateError => new MalformedUpdateError('a value is not JSON')

/** Returns the offset after a value that may follow spaces. */
function afterValue(reader: ByteReader, start: number, end: number, depth: number): number {
  const { bytes } = reader
  const at = afterSpaces(bytes, start, end)
  if (at >= end) throw notJson()
  const byte = bytes[at] as number
  if (byte === quote) return afterString(bytes, at + 1, end)
  if (byte === openBracket || byte === openBrace) return afterMembers(reader, at, end, depth + 1)
  const word = words.get(byte)
  return word === undefined ? afterNumber(bytes, at, end) : afterWord(bytes, at, end, word)
}

/** Returns the offset after an array or object. The recursion is limited by the limit for nesting. */
function afterMembers(reader: ByteReader, start: number, end: number, depth: number): number {
  const { bytes } = reader
  if (depth > limits.jsonDepth)
    throw new MalformedUpdateError(`values are nested deeper than ${limits.jsonDepth}`)
  const isObject = bytes[start] === openBrace
  const close = isObject ? closeBrace : closeBracket
  reader.countValues(1)
  let at = afterSpaces(bytes, start + 1, end)
  if (at < end && bytes[at] === close) return at + 1
  for (;;) {
    if (isObject) at = afterKey(bytes, at, end)
    at = afterSpaces(bytes, afterValue(reader, at, end, depth), end)
    if (at >= end) throw notJson()
    if (bytes[at] === close) return at + 1
    if (bytes[at] !== comma) throw notJson()
    reader.countValues(1)
    at += 1
  }
}

function afterKey(bytes: Uint8Array, start: number, end: number): number {
  const at = afterByte(bytes, afterSpaces(bytes, start, end), end, quote)
  return afterByte(bytes, afterSpaces(bytes, afterString(bytes, at, end), end), end, colon)
}

function afterByte(bytes: Uint8Array, at: number, end: number, byte: number): number {
  if (at >= end || bytes[at] !== byte) throw notJson()
  return at + 1
}

function afterSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && spaces.includes(bytes[at] as number)) at += 1
  return at
}

/** Returns the offset after the quote that ends a string. */
function afterString(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === quote) return at + 1
    if (byte < 32) break
    if (byte === backslash) at = lastOfEscape(bytes, at + 1, end)
  }
  throw notJson()
}

function lastOfEscape(bytes: Uint8Array, at: number, end: number): number {
  if (at < end && escapes.includes(bytes[at] as number)) return at
  const last = afterByte(bytes, at, end, unicodeEscape) + unicodeDigits - 1
  for (let digit = at + 1; digit <= last; digit++)
    if (digit >= end || !hexDigits.includes(bytes[digit] as number)) throw notJson()
  return last
}

function afterWord(bytes: Uint8Array, start: number, end: number, word: readonly number[]): number {
  let at = start
  for (const byte of word) at = afterByte(bytes, at, end, byte)
  return at
}

function afterNumber(bytes: Uint8Array, start: number, end: number): number {
  let at = bytes[start] === minus ? start + 1 : start
  at = at < end && bytes[at] === zero ? at + 1 : afterDigits(bytes, at, end)
  if (at < end && bytes[at] === point) at = afterDigits(bytes, at + 1, end)
  if (at >= end || !exponents.includes(bytes[at] as number)) return at
  const isSigned = at + 1 < end && signs.includes(bytes[at + 1] as number)
  return afterDigits(bytes, isSigned ? at + 2 : at + 1, end)
}

/** Returns the offset after one or more digits. */
function afterDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at += 1
  if (at === start) throw notJson()
  return at
}
