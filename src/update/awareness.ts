import { jsonDepthExceeds } from '../model/json.ts'
import { MalformedMessage, MalformedUpdate } from './malformed.ts'
import { ByteReader, clockMax } from './reader.ts'
import { pushVarUint } from './vector.ts'

/** Longest state of one client, in bytes of JSON, and its deepest nesting. */
export const stateBytesMax = 16 * 1024
export const stateDepthMax = 32
/** How a state that was taken away looks on the wire. */
export const removedText = 'null'
/** Clients whose states one message may carry: an ordinary client sends its own, an echoing one all it knows. */
const entriesMax = 1_000

/** What one client shows; `state` null when it shows nothing any more. */
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
 * Reads an awareness update of y-protocols. States that are too large, too deep or not an object are left out: a
 * careless client must not lose its connection for them.
 * @throws MalformedMessage when the framing is broken
 */
export function readAwareness(bytes: Uint8Array): AwarenessEntry[] {
  try {
    return readEntries(new ByteReader(bytes))
  } catch (error) {
    if (error instanceof MalformedUpdate) throw new MalformedMessage(`awareness: ${error.message}`)
    throw error
  }
}

function readEntries(reader: ByteReader): AwarenessEntry[] {
  const count = reader.varUint()
  if (count > entriesMax) throw new MalformedMessage(`awareness of more than ${entriesMax} clients`)
  const entries: AwarenessEntry[] = []
  for (let index = 0; index < count; index++) {
    const clientId = reader.varUint()
    const clock = reader.varUint()
    const start = reader.at
    reader.skipString()
    const usable = clock < clockMax && reader.at - start <= stateBytesMax
    if (!usable) continue
    reader.at = start
    const state = parseState(reader.string(stateBytesMax))
    if (state !== undefined) entries.push({ clientId, clock, state })
  }
  if (reader.left > 0) throw new MalformedMessage('something follows the awareness states')
  return entries
}

/** Undefined when it can't be used. A key `__proto__` becomes an ordinary own one and is spread without effect. */
function parseState(text: string): AwarenessEntry['state'] | undefined {
  if (jsonDepthExceeds(text, stateDepthMax)) return undefined
  try {
    const state: unknown = JSON.parse(text)
    if (state === null) return null
    return typeof state === 'object' && !Array.isArray(state) ? (state as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Writes what `applyAwarenessUpdate` of y-protocols reads. */
export function writeAwareness(entries: readonly AwarenessText[]): Uint8Array {
  const parts: Uint8Array[] = [head(entries.length)]
  for (const { clientId, clock, text } of entries) {
    const state = Buffer.from(text)
    parts.push(head(clientId, clock, state.length), state)
  }
  return Buffer.concat(parts)
}

function head(...values: number[]): Uint8Array {
  const bytes: number[] = []
  for (const value of values) pushVarUint(bytes, value)
  return Uint8Array.from(bytes)
}
