import { isUtf8 } from 'node:buffer'
import { isJsonObject } from '../base/json.ts'
import { jsonDepthExceeds } from '../model/json-depth.ts'
import { ByteReader, clockMax } from './byte-reader.ts'
import { MalformedMessageError, MalformedUpdateError } from './malformed.ts'
import { encodeVarUints } from './state-vector.ts'

/** Maximum bytes, and maximum nesting, of the JSON of one client's state. */
export const stateBytesMax = 16 * 1024
const stateDepthMax = 32
/** JSON of a removed state. */
export const removedText = 'null'
/**
 * Maximum number of states that are read from one message. A client usually sends only its own state, but may
 * also send back states of other clients that it has received.
 */
export const entriesMax = 1_000
/**
 * Limits for one awareness message of the server: maximum number of clients, and maximum total number of
 * characters of their states. A single state that is longer gets its own message.
 */
export const messageEntriesMax = 500
export const messageLengthMax = 256 * 1024

/** The state of one client. `state` is null if the state was removed. */
export interface AwarenessEntry {
  readonly clientId: number
  readonly clock: number
  readonly state: Readonly<Record<string, unknown>> | null
}

export interface AwarenessText {
  readonly clientId: number
  readonly clock: number
  /** The state as JSON. */
  readonly text: string
}

/**
 * Parses an awareness update of y-protocols. Skips a state that is not an object, or that exceeds the limits
 * for size and nesting, and skips all states after `entriesMax`. Such states do not end the connection,
 * because a client may send them by mistake.
 * @param concerns returns whether the state of a client is needed; a state that is not needed is skipped at
 * very low cost, because stock clients send back all states that they receive
 * @throws MalformedMessageError if the framing is invalid
 */
export function readAwareness(
  bytes: Uint8Array,
  concerns: (clientId: number) => boolean = () => true,
): AwarenessEntry[] {
  try {
    return readEntries(new ByteReader(bytes), concerns)
  } catch (error) {
    if (error instanceof MalformedUpdateError) throw new MalformedMessageError(`awareness: ${error.message}`)
    throw error
  }
}

function readEntries(reader: ByteReader, concerns: (clientId: number) => boolean): AwarenessEntry[] {
  const count = reader.varUint()
  const entries: AwarenessEntry[] = []
  for (let index = 0; index < count; index++) {
    const clientId = reader.varUint()
    const clock = reader.varUint()
    const length = reader.varUint()
    const start = reader.at
    reader.skip(length)
    if (entries.length === entriesMax || !concerns(clientId)) continue
    const state = readState(reader, start, length)
    if (clock < clockMax && state !== undefined) entries.push({ clientId, clock, state })
  }
  if (reader.left > 0) throw new MalformedMessageError('something follows the awareness states')
  return entries
}

/** Reads the state of one client. Returns undefined if the state must be skipped; null if it was removed. */
function readState(reader: ByteReader, start: number, length: number): AwarenessEntry['state'] | undefined {
  const { buffer, byteOffset } = reader.bytes
  const text = Buffer.from(buffer, byteOffset + start, length)
  if (!isUtf8(text)) throw new MalformedUpdateError('a text is not UTF-8')
  return length > stateBytesMax ? undefined : parseState(text.toString())
}

/**
 * Parses the JSON of a state. Returns undefined if the state must be skipped; null if it was removed. A key
 * `__proto__` becomes an ordinary own property, and has no effect when the object is spread.
 */
function parseState(text: string): AwarenessEntry['state'] | undefined {
  if (jsonDepthExceeds(text, stateDepthMax)) return undefined
  try {
    const state: unknown = JSON.parse(text)
    if (state === null) return null
    return isJsonObject(state) ? state : undefined
  } catch {
    return undefined
  }
}

/** Encodes an awareness update in the form that `applyAwarenessUpdate` of y-protocols reads. */
export function writeAwareness(entries: readonly AwarenessText[]): Uint8Array {
  const parts: Uint8Array[] = [encodeVarUints(entries.length)]
  for (const { clientId, clock, text } of entries) {
    const state = Buffer.from(text)
    parts.push(encodeVarUints(clientId, clock, state.length), state)
  }
  return Buffer.concat(parts)
}

/**
 * Encodes states as `writeAwareness` does, but in several messages if there are many states. Each message is
 * within the limits for messages of clients, so that a client may send it back.
 */
export function writeAwarenessMessages(entries: readonly AwarenessText[]): readonly Uint8Array[] {
  const messages: Uint8Array[] = []
  let [start, bytes] = [0, 0]
  for (const [index, { text }] of entries.entries()) {
    if (index > start && (index - start === messageEntriesMax || bytes + text.length > messageLengthMax)) {
      messages.push(writeAwareness(entries.slice(start, index)))
      start = index
      bytes = 0
    }
    bytes += text.length
  }
  if (start < entries.length) messages.push(writeAwareness(entries.slice(start)))
  return messages
}
