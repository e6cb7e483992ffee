import { readJson } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import { DamagedRecordError } from '../stored-record.ts'

/** Refers to an object of an object store that has the content of a blob. */
export interface ObjectReference {
  /** Name of the object. No other blob has ever had an object with this name. */
  readonly name: string
  /** Size of the content in bytes. */
  readonly bytes: number
}

/** The value of a blob as an engine stores it: the content itself, or a reference to an object. */
export type StoredBlob =
  | { readonly is: 'content'; readonly content: Uint8Array }
  | { readonly is: 'reference'; readonly reference: ObjectReference }

/**
 * Start of a value that is not plain content. No Yjs state starts with these bytes: they would be a state without
 * structs that has deletions.
 */
const marker = Buffer.from('\u0000\u00ffweft-blob\u0001', 'latin1')
const kinds = { content: 0, reference: 1 } as const

const referenceSchema = s.object({ name: s.string, bytes: s.number })

const isMarked = (value: Uint8Array): boolean =>
  Buffer.compare(value.subarray(0, marker.length), marker) === 0

const marked = (kind: keyof typeof kinds, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([marker, Buffer.of(kinds[kind]), bytes])

/** Returns the value of a blob whose content the engine stores. It is the content, unless this could be a reference. */
export const encodeBlobContent = (content: Uint8Array): Uint8Array =>
  isMarked(content) ? marked('content', content) : content

export const encodeObjectReference = (reference: ObjectReference): Uint8Array =>
  marked('reference', Buffer.from(JSON.stringify(reference)))

/** @throws DamagedRecordError */
export function decodeStoredBlob(value: Uint8Array): StoredBlob {
  if (!isMarked(value)) return { is: 'content', content: value }
  const rest = value.subarray(marker.length + 1)
  const kind = value[marker.length]
  if (kind === kinds.content) return { is: 'content', content: rest }
  if (kind !== kinds.reference) throw new DamagedRecordError(`a blob has the unknown kind ${kind}`)
  try {
    return { is: 'reference', reference: readJson(referenceSchema, rest) }
  } catch (cause) {
    throw new DamagedRecordError('a reference to an object is malformed', { cause })
  }
}
