import type { IncomingMessage } from 'node:http'
import { type ApiError, invalid } from '../../errors.ts'
import { isJsonObject } from '../../json.ts'
import { measureJson } from '../../model/json-depth.ts'

/** Maximum bytes of one line. */
export const lineBytesMax = 262_144
/** Maximum depth of the JSON in a line. A target in an opening has the greatest depth. */
const depthMax = 16

/** A line of a stream after the opening. */
export type StreamLine =
  | { readonly is: 'text'; readonly text: string; readonly at: number | undefined }
  | { readonly is: 'end' }
  | { readonly is: 'withdraw' }

export const invalidLine = (number: number, problem: string): ApiError =>
  invalid('crdt/invalid-stream', `line ${number} of the stream ${problem}`)

/**
 * Yields the JSON objects of a body, one for each line that is not empty. Reads the body only as fast as they are used.
 * @param received called with the number of bytes of each chunk. @throws the errors of the caller
 * @throws ApiError INVALID_ARGUMENT for a line that is too long, not UTF-8, not a JSON object, or nested too deeply
 */
export async function* readJsonLines(
  request: IncomingMessage,
  received: (bytes: number) => void,
): AsyncGenerator<{ readonly number: number; readonly value: Readonly<Record<string, unknown>> }, void> {
  const pending = new LineBuffer()
  let number = 0
  const line = (): Readonly<Record<string, unknown>> | null => {
    number += 1
    return parseLine(pending.take(), number)
  }
  // The caller ends the connection, after the client was sent the reason.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received(chunk.length)
    for (let at = 0; at < chunk.length; ) {
      const found = chunk.indexOf(lineFeed, at)
      const end = found === -1 ? chunk.length : found
      if (pending.length + end - at > lineBytesMax)
        throw invalidLine(number + 1, `is longer than ${lineBytesMax} bytes`)
      pending.add(chunk.subarray(at, end))
      at = end + 1
      if (found === -1) break
      const value = line()
      if (value !== null) yield { number, value }
    }
  }
  const value = line()
  if (value !== null) yield { number, value }
}

const lineFeed = 0x0a

/** The start of a line. Copies the bytes, so that small chunks keep no large buffers in memory. */
class LineBuffer {
  #bytes = Buffer.alloc(0)
  length = 0

  add(bytes: Buffer): void {
    const length = this.length + bytes.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * this.#bytes.length, length))
      this.#bytes.copy(larger, 0, 0, this.length)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.length)
    this.length = length
  }

  /** Removes the bytes. They are valid until the next call of `add`. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length)
    this.length = 0
    return taken
  }
}

/** Parses a line. Returns null for an empty line. */
function parseLine(bytes: Buffer, number: number): Readonly<Record<string, unknown>> | null {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidLine(number, 'is not UTF-8')
  }
  if (text.trim() === '') return null
  if (measureJson(text, depthMax).isTooDeep)
    throw invalidLine(number, `is nested more than ${depthMax} levels deep`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidLine(number, 'is not JSON')
  }
  if (!isJsonObject(value)) throw invalidLine(number, 'is not a JSON object')
  return value
}

const names = ['text', 'end', 'withdraw'] as const

/** Reads a line after the opening. @throws ApiError INVALID_ARGUMENT */
export function readStreamLine(number: number, value: Readonly<Record<string, unknown>>): StreamLine {
  const [name, ...others] = names.filter((each) => value[each] !== undefined)
  if (name === undefined || others.length > 0)
    throw invalidLine(number, `must have exactly one of ${names.join(', ')}`)
  const known: readonly string[] = name === 'text' ? ['text', 'at'] : [name]
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) throw invalidLine(number, 'has an unknown member; remove it')
  const { text, at } = value
  if (name !== 'text') {
    if (value[name] !== true) throw invalidLine(number, `must have ${name}: true`)
    return { is: name }
  }
  if (typeof text !== 'string') throw invalidLine(number, 'must have a string as text')
  if (at === undefined || at === null) return { is: 'text', text, at: undefined }
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0)
    throw invalidLine(number, 'must have a whole number as at')
  return { is: 'text', text, at }
}
