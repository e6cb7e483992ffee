import type { ApiError } from '../base/errors.ts'
import { exhausted, limitOf } from '../quota/limits.ts'

/**
 * Number of characters of JSON text after which a piece ends. A piece can be longer: escapes can make its
 * last value up to six times as long.
 */
const pieceLength = 65_536
/**
 * Number of bytes that are encoded as base64 in one step. It is a multiple of 3, so that the parts can be
 * concatenated without padding.
 */
const base64Bytes = 49_152
/**
 * Maximum nesting of a container that is encoded in one step. The length of its text is estimated before the
 * step. Because of this constant bound, the work for all estimates together is linear.
 */
const stepDepth = 4
/** Maximum nesting of a value that `smallJsonText` encodes. */
const smallDepth = 8

/**
 * A value that is already in bytes. A response contains the bytes unchanged, as JSON (`json`), or as one
 * base64 string (`base64`).
 */
export class EncodedJson {
  readonly as: 'json' | 'base64'
  readonly parts: readonly Uint8Array[]

  constructor(as: 'json' | 'base64', parts: readonly Uint8Array[]) {
    this.as = as
    this.parts = parts
  }

  /** Number of bytes that the value takes in the response. */
  get bytes(): number {
    const bytes = this.parts.reduce((sum, { length }) => sum + length, 0)
    return this.as === 'json' ? bytes : Math.ceil(bytes / 3) * 4
  }
}

/**
 * Maximum number of elements of each array, and maximum number of nesting levels, that `encodedBytes` reads.
 */
const encodedIn = { elements: 1_000, levels: 6 } as const

/** Returns the total bytes of all `EncodedJson` values in a value, within the bounds of `encodedIn`. */
export function encodedBytes(value: unknown, levels: number = encodedIn.levels): number {
  if (value instanceof EncodedJson) return value.bytes
  if (typeof value !== 'object' || value === null || levels === 0) return 0
  const values: unknown[] = Array.isArray(value) ? value.slice(0, encodedIn.elements) : Object.values(value)
  return values.reduce<number>((sum, each) => sum + encodedBytes(each, levels - 1), 0)
}

/** A JSON array whose elements are read, page by page, while the array is sent. */
export class StreamedArray {
  readonly pages: () => AsyncIterable<readonly unknown[]>

  constructor(pages: () => AsyncIterable<readonly unknown[]>) {
    this.pages = pages
  }
}

/** A piece of JSON text. The consumer must replace a `StreamedArray` by its elements, separated by commas. */
type JsonPiece = string | Uint8Array | StreamedArray

/**
 * Returns the text of `JSON.stringify(value)`. Returns null unless the value is plain JSON that is encoded in
 * one step, as most responses are.
 */
export const smallJsonText = (value: unknown): string | null =>
  costOf(value, smallDepth, pieceLength) > pieceLength ? null : (JSON.stringify(value) ?? 'null')

/** Yields the text of `JSON.stringify(value)` in pieces. The work between two pieces is limited. */
export function* jsonPieces(value: unknown): Generator<JsonPiece, void, undefined> {
  const writer = new PieceWriter()
  yield* writer.value(value)
  yield* writer.flush()
}

/**
 * Seconds after which a client may repeat a request whose response was too large. The second request succeeds
 * only if the data is smaller by then.
 */
const retryAfterSeconds = 60

/**
 * Returns the error for a response that exceeds its limit.
 * @param remedy advice such as `request less data`
 */
export const responseTooLarge = (bytesMax: number, remedy: string): ApiError =>
  exhausted('maxResponseBytes', bytesMax, {
    problem: `the response is larger than ${bytesMax} bytes`,
    remedy,
    retryAfterSeconds,
  })

/** Returns whether an error states that a response was too large. */
export const isResponseTooLarge = (error: unknown): boolean => limitOf(error) === 'maxResponseBytes'

/** Returns an error with another remedy if it states that a response was too large; any other error as it is. */
export const withRemedy = (error: unknown, bytesMax: number, remedy: string): unknown =>
  isResponseTooLarge(error) ? responseTooLarge(bytesMax, remedy) : error

/**
 * Encodes a value as JSON in UTF-8. Stops when the text exceeds `bytesMax`, to limit the memory.
 * @throws ApiError RESOURCE_EXHAUSTED if the text exceeds `bytesMax` bytes
 */
export function encodeJson(value: unknown, bytesMax: number): EncodedJson {
  const encoder = new TextEncoder()
  const parts: Uint8Array[] = []
  let bytes = 0
  for (const piece of jsonPieces(value)) {
    if (piece instanceof StreamedArray) throw new TypeError('a streamed array has no end')
    const part = typeof piece === 'string' ? encoder.encode(piece) : piece
    bytes += part.length
    if (bytes > bytesMax) throw responseTooLarge(bytesMax, 'request less data')
    parts.push(part)
  }
  return new EncodedJson('json', parts)
}

/**
 * Returns the number of bytes of `JSON.stringify(value)` in UTF-8. Stops counting as soon as the number
 * exceeds `bytesMax`; the result is then only a lower bound.
 */
export function jsonBytesUpTo(value: unknown, bytesMax: number): number {
  let bytes = 0
  for (const piece of jsonPieces(value)) {
    if (piece instanceof StreamedArray) throw new TypeError('a streamed array has no length')
    bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
    if (bytes > bytesMax) break
  }
  return bytes
}

/**
 * Returns the text of `JSON.stringify(value)`. Returns null if the text has more than `lengthMax` UTF-16
 * units, or if the value contains a `StreamedArray`.
 */
export function jsonTextUpTo(value: unknown, lengthMax: number): string | null {
  let text = ''
  for (const piece of jsonPieces(value)) {
    if (piece instanceof StreamedArray) return null
    text += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
    if (text.length > lengthMax) return null
  }
  return text
}

class PieceWriter {
  #text = '';

  *value(value: unknown): Generator<JsonPiece, void, undefined> {
    if (this.#addSmall(value)) {
      if (this.#text.length >= pieceLength) yield* this.flush()
    } else if (typeof value === 'string') yield* this.#longString(value)
    else if (value instanceof EncodedJson) yield* this.#encoded(value)
    else if (value instanceof StreamedArray) yield* this.#streamed(value)
    else if (hasOwnForm(value)) yield* this.value(value.toJSON())
    else if (Array.isArray(value)) yield* this.#array(value)
    else yield* this.#object(value as object)
  }

  /**
   * Adds a value if it is small enough to be encoded in one step. Returns false, and adds nothing, for any
   * other value.
   */
  #addSmall(value: unknown): boolean {
    if (costOf(value, stepDepth, pieceLength) > pieceLength) return false
    this.#text += JSON.stringify(value) ?? 'null'
    return true
  }

  /**
   * Adds a value if it is small and the current piece is not full; otherwise returns false. This saves a
   * generator for each small value, which would take longer than encoding the value.
   */
  #addWithRoom(value: unknown): boolean {
    return this.#text.length < pieceLength && this.#addSmall(value)
  }

  *flush(): Generator<JsonPiece, void, undefined> {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    yield text
  }

  *#array(values: readonly unknown[]): Generator<JsonPiece, void, undefined> {
    let separator = '['
    for (const value of values) {
      this.#text += separator
      separator = ','
      if (!this.#addWithRoom(value)) yield* this.value(value)
    }
    this.#text += separator === '[' ? '[]' : ']'
  }

  *#object(object: object): Generator<JsonPiece, void, undefined> {
    let separator = '{'
    for (const [key, value] of Object.entries(object) as [string, unknown][]) {
      if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue
      this.#text += `${separator}${JSON.stringify(key)}:`
      separator = ','
      if (!this.#addWithRoom(value)) yield* this.value(value)
    }
    this.#text += separator === '{' ? '{}' : '}'
  }

  *#longString(text: string): Generator<JsonPiece, void, undefined> {
    this.#text += '"'
    for (let at = 0; at < text.length; ) {
      const end = endOfSlice(text, at + pieceLength)
      this.#text += JSON.stringify(text.slice(at, end)).slice(1, -1)
      at = end
      yield* this.flush()
    }
    this.#text += '"'
  }

  *#encoded({ as, parts }: EncodedJson): Generator<JsonPiece, void, undefined> {
    if (as === 'base64') yield* this.#base64(parts)
    else {
      yield* this.flush()
      yield* parts
    }
  }

  *#base64(parts: readonly Uint8Array[]): Generator<JsonPiece, void, undefined> {
    const bytes = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    this.#text += '"'
    for (let at = 0; at < bytes.length; at += base64Bytes) {
      this.#text += Buffer.from(bytes.subarray(at, at + base64Bytes)).toString('base64')
      yield* this.flush()
    }
    this.#text += '"'
  }

  *#streamed(array: StreamedArray): Generator<JsonPiece, void, undefined> {
    this.#text += '['
    yield* this.flush()
    yield array
    this.#text += ']'
  }
}

/**
 * Returns the index at which a slice of the text ends: `end`, or one more so that the slice does not end
 * between the two halves of a surrogate pair. `JSON.stringify` would escape each half that stands alone.
 */
function endOfSlice(text: string, end: number): number {
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}

const hasOwnForm = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'

/** Estimates the length of the JSON text of a plain value, in UTF-16 units, without encoding the value. */
export const estimatedLength = (value: unknown): number =>
  costOf(value, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

/**
 * Estimates the length of the JSON text of a value, in UTF-16 units. Returns Infinity if the length exceeds
 * `left`, if the value is nested deeper than `depth`, or if it is not plain JSON.
 */
function costOf(value: unknown, depth: number, left: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  if (depth === 0 || !isPlain(value)) return Number.POSITIVE_INFINITY
  let cost = 2
  if (Array.isArray(value)) {
    for (const element of value) {
      cost += costOf(element, depth - 1, left - cost) + 1
      if (cost > left) return Number.POSITIVE_INFINITY
    }
    return cost
  }
  for (const key in value) {
    cost += key.length + 4 + costOf((value as Record<string, unknown>)[key], depth - 1, left - cost)
    if (cost > left) return Number.POSITIVE_INFINITY
  }
  return cost
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Array.prototype || prototype === Object.prototype || prototype === null
}
