import type { IncomingMessage } from 'node:http'
import { type ApiError, invalid } from '../../../core/base/errors.ts'
import { isJsonObject } from '../../../core/base/json.ts'
import { measureJson } from '../../../core/model/json-depth.ts'
import { GrowingBytes } from '../../../core/quota/growing-bytes.ts'
import { ClientDisconnectedError } from '../../../rest/http/request-body.ts'

/** Maximum bytes of one line. */
export const lineBytesMax = 262_144
/** Maximum depth of the JSON in a line. A target in an opening has the greatest depth. */
const depthMax = 16

/** A line of a stream after the opening. */
type StreamLine =
  | { readonly is: 'text'; readonly text: string; readonly at: number | undefined }
  | { readonly is: 'end' }
  | { readonly is: 'withdraw' }

const invalidLine = (number: number, rule: string): ApiError =>
  invalid('crdt/invalid-stream', `line ${number} of the stream must ${rule}`)

/** A line of the body, which is a JSON object. */
interface JsonLine {
  readonly number: number
  readonly value: Readonly<Record<string, unknown>>
}

/** Maximum time in ms and bytes for which the rest of a body is read, so that the client receives the response. */
const discardMs = 5_000
const discardedBytesMax = 16_777_216

/** Reads the lines of a body. Reads it only as fast as they are used: at most one chunk waits. */
export class JsonLineReader {
  readonly #request: IncomingMessage
  readonly #received: (bytes: number) => void
  /** The start of a line. */
  readonly #line = new GrowingBytes(lineBytesMax)
  #number = 0
  #chunk: Buffer | null = null
  #at = 0
  #state: 'open' | 'ended' | 'disconnected' | 'discarding' = 'open'
  #discardedBytes = 0
  #wake = (): void => {}

  /** @param received called with the number of bytes of each chunk; its errors are those of `next` */
  constructor(request: IncomingMessage, received: (bytes: number) => void) {
    this.#request = request
    this.#received = received
    request.pause()
    request.on('data', (chunk: Buffer) => this.#accept(chunk))
    request.on('end', () => this.#end('ended'))
    request.on('close', () => this.#end('disconnected'))
    request.on('error', () => this.#end('disconnected'))
  }

  /**
   * Returns the next line that is not empty; null at the end of the body.
   * @throws ApiError INVALID_ARGUMENT for a line that is too long, not UTF-8, not a JSON object, or nested too deeply;
   * ClientDisconnectedError
   */
  async next(): Promise<JsonLine | null> {
    for (;;) {
      if (this.#chunk === null) await this.#read()
      const chunk: Buffer | null = this.#chunk
      if (this.#state === 'disconnected') throw disconnected()
      const value = chunk === null ? this.#take() : this.#readLine(chunk)
      if (value !== null) return { number: this.#number, value }
      if (chunk === null) return null
    }
  }

  /**
   * Yields the bytes after the last line, instead of further lines.
   * @throws ClientDisconnectedError
   */
  async *rest(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      if (this.#chunk === null) await this.#read()
      const chunk: Buffer | null = this.#chunk
      if (this.#state === 'disconnected') throw disconnected()
      if (chunk === null) return
      this.#chunk = null
      yield chunk.subarray(this.#at)
    }
  }

  /** Ends the use of the body. Reads the rest for some time, so that the client can receive the response. */
  discardRest(): void {
    const request = this.#request
    if (this.#state !== 'open') return
    this.#state = 'discarding'
    this.#chunk = null
    this.#wake()
    const timer = setTimeout(() => request.destroy(), discardMs).unref()
    request.once('end', () => clearTimeout(timer))
    request.once('close', () => clearTimeout(timer))
    request.resume()
  }

  #accept(chunk: Buffer): void {
    if (this.#state === 'discarding') {
      this.#discardedBytes += chunk.length
      if (this.#discardedBytes > discardedBytesMax) this.#request.destroy()
      return
    }
    this.#request.pause()
    this.#chunk = chunk
    this.#at = 0
    this.#wake()
  }

  #end(state: 'ended' | 'disconnected'): void {
    if (this.#state === 'open') this.#state = state
    this.#wake()
  }

  /** Resolves when a chunk has arrived, or when the body has ended. */
  async #read(): Promise<void> {
    if (this.#state !== 'open') return
    const arrived = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#request.resume()
    await arrived
    if (this.#chunk !== null) this.#received(this.#chunk.length)
  }

  /** Returns the line that ends in a chunk; null if it is empty, or if its end has not arrived. */
  #readLine(chunk: Buffer): JsonLine['value'] | null {
    const found = chunk.indexOf(lineFeed, this.#at)
    const end = found === -1 ? chunk.length : found
    if (this.#line.length + end - this.#at > lineBytesMax)
      throw invalidLine(this.#number + 1, `have at most ${lineBytesMax} bytes`)
    this.#line.add(chunk.subarray(this.#at, end))
    this.#at = end + 1
    if (this.#at >= chunk.length) this.#chunk = null
    return found === -1 ? null : this.#take()
  }

  #take(): JsonLine['value'] | null {
    this.#number += 1
    return parseLine(this.#line.take(), this.#number)
  }
}

const disconnected = (): ClientDisconnectedError =>
  new ClientDisconnectedError('the connection ended before the end of the stream')

const lineFeed = 0x0a

/** Parses a line. Returns null for an empty line. */
function parseLine(bytes: Buffer, number: number): Readonly<Record<string, unknown>> | null {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidLine(number, 'be UTF-8')
  }
  if (text.trim() === '') return null
  if (measureJson(text, depthMax).isTooDeep)
    throw invalidLine(number, `be nested at most ${depthMax} levels deep`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidLine(number, 'be JSON')
  }
  if (!isJsonObject(value)) throw invalidLine(number, 'be a JSON object')
  return value
}

const names = ['text', 'end', 'withdraw'] as const

/** Reads a line after the opening. @throws ApiError INVALID_ARGUMENT */
export function readStreamLine(number: number, value: Readonly<Record<string, unknown>>): StreamLine {
  const [name, ...others] = names.filter((each) => value[each] !== undefined)
  if (name === undefined || others.length > 0)
    throw invalidLine(number, `have exactly one of ${names.join(', ')}`)
  const known: readonly string[] = name === 'text' ? ['text', 'at'] : [name]
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) throw invalidLine(number, `have only the members ${known.join(', ')}`)
  const { text, at } = value
  if (name !== 'text') {
    if (value[name] !== true) throw invalidLine(number, `have ${name}: true`)
    return { is: name }
  }
  if (typeof text !== 'string') throw invalidLine(number, 'have a string as text')
  if (at === undefined || at === null) return { is: 'text', text, at: undefined }
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0)
    throw invalidLine(number, 'have a whole number as at')
  return { is: 'text', text, at }
}
