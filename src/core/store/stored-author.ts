import { readJsonOrNull } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { changeMetaSchema, changeSources } from '../model/change-origin.ts'
import type { LogEntry, LogUpdate } from './engine.ts'

/** The author of an entry and the cause of its change. */
type EntryAuthor = Pick<LogEntry, 'by' | 'source' | 'meta'>

/** Marks a packed author. No user id contains it, because ids have no control characters. */
const packed = '\u0001'

/**
 * Returns the text that is stored as the author of an update. It is the user id, without additional bytes, if
 * the update came from a websocket.
 */
export function packAuthor({ by, source = 'socket', meta = null }: Omit<LogUpdate, 'bytes'>): string {
  if (source === 'socket' && meta === null && !by.startsWith(packed)) return by
  return `${packed}${JSON.stringify(meta === null ? [source, by] : [source, by, meta])}`
}

const cause = [s.choice(changeSources), s.string] as const
const packedAuthor = s.anyOf([s.exactTuple(cause), s.exactTuple([...cause, changeMetaSchema])])

/**
 * Returns the author that is stored as `text`. If a newer version has stored it in another form, the author
 * is unknown.
 */
export function unpackAuthor(text: string): EntryAuthor {
  if (!text.startsWith(packed)) return { by: text }
  const author = readJsonOrNull(packedAuthor, text.slice(1))
  if (author === null) return { by: '' }
  const [source, by] = author
  return author.length === 2 ? { by, source } : { by, source, meta: author[2] }
}

/** Returns a copy of an update whose bytes the caller may reuse. */
export function copyOfUpdate({ bytes, by, source, meta }: LogUpdate): LogUpdate {
  const copy = { bytes: new Uint8Array(bytes), by }
  return source === undefined && meta === undefined
    ? copy
    : { ...copy, source: source ?? 'socket', meta: meta ?? null }
}
