import * as Y from 'yjs'
import { ApiError } from '../../errors.ts'
import type { StoredRange } from '../edit/edit-dependencies.ts'
import { putItem } from '../json/write-edits.ts'
import { keepingKinds } from '../keep-kinds.ts'
import type { ReplacementResult } from '../replacement-result.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { deleteIds } from '../yjs/stored-ranges.ts'
import type { StreamPlace } from './stream-place.ts'

/** A stream that writes to a document. */
export interface StreamWriter {
  readonly place: StreamPlace
  /** The client id of Yjs with which only this stream writes. */
  readonly client: number
}

/**
 * Returns how many UTF-16 units of the content of a stream a document contains. The content that others have
 * deleted counts. A stream writes each unit once, with a client id of its own, so the clock of this id counts them.
 */
export const receivedUnits = (clock: number, { before, after }: StreamPlace): number =>
  Math.max(0, clock - before.length - after.length)

/**
 * Writes the next part of the content, directly after the part before it. Text that others insert next to the
 * content stays next to it.
 * @param text well-formed Unicode
 * @throws ApiError FAILED_PRECONDITION if the place no longer exists; nothing is changed then
 */
export function writeStreamText(doc: Y.Doc, writer: StreamWriter, text: string): ReplacementResult {
  if (text === '') return { changed: false, insertions: 0, deletions: 0 }
  writingAs(doc, writer.client, (transaction) => {
    const { type, left, right } = placeOfNext(transaction, writer)
    putText(transaction, { type, left, right }, text)
  })
  return { changed: true, insertions: text.length, deletions: 0 }
}

/**
 * Deletes the content that the stream replaces. Content of others that is inside it stays.
 * @returns the numbers of the change
 */
export const deleteReplaced = (
  doc: Y.Doc,
  { contentKey, kind }: StreamPlace,
  replaced: readonly StoredRange[],
): ReplacementResult => deleting(doc, { contentKey, kind }, replaced)

/** Deletes the content of a stream. Content of others that is inside it stays. */
export function deleteStreamed(doc: Y.Doc, { place, client }: StreamWriter): ReplacementResult {
  const length = Y.getState(doc.store, client)
  return deleting(doc, place, length === 0 ? [] : [{ client, clock: 0, length }])
}

function deleting(
  doc: Y.Doc,
  { contentKey, kind }: Pick<StreamPlace, 'contentKey' | 'kind'>,
  ranges: readonly StoredRange[],
): ReplacementResult {
  return keepingKinds(doc, new Map([[contentKey, kind]]), () =>
    doc.transact((transaction) => {
      const { store } = doc
      const known = ranges.filter(({ client, clock, length }) => clock + length <= Y.getState(store, client))
      const root = doc.share.get(contentKey)
      if (root !== undefined && root._searchMarker !== null) root._searchMarker.length = 0
      for (const range of known) deleteIds(transaction, range)
      const deletions = deletedUnits(transaction)
      return { changed: deletions > 0, insertions: 0, deletions }
    }),
  )
}

/** Returns the number of units that a transaction has deleted. */
const deletedUnits = ({ deleteSet }: Y.Transaction): number =>
  [...deleteSet.clients.values()].flat().reduce((sum, { len }) => sum + len, 0)

/** Runs `work` in one transaction whose items have the client id of the stream. */
function writingAs(doc: Y.Doc, client: number, work: (transaction: Y.Transaction) => void): void {
  doc.transact((transaction) => {
    const own = doc.clientID
    doc.clientID = client
    try {
      work(transaction)
    } finally {
      doc.clientID = own
    }
  })
}

/** A place between two items of a shared type. */
interface ItemPlace {
  readonly type: SharedRoot
  readonly left: Y.Item | null
  readonly right: Y.Item | null
}

/** Returns the place of the next part. Before the first part, writes the line breaks around the content. */
function placeOfNext(transaction: Y.Transaction, { place, client }: StreamWriter): ItemPlace {
  const { before, after } = place
  const clock = Y.getState(transaction.doc.store, client)
  if (clock > before.length + after.length) return placeAfter(transaction, client, clock - 1)
  // The line breaks are written together with the first part.
  if (clock > 0) throw placeRemoved()
  const first = firstPlace(transaction, place)
  const left = before === '' ? first.left : putText(transaction, first, before)
  const right = after === '' ? first.right : putText(transaction, { ...first, left }, after)
  return { type: first.type, left, right }
}

/** Returns the place directly after an id. */
function placeAfter(transaction: Y.Transaction, client: number, clock: number): ItemPlace {
  const left = Y.getItemCleanEnd(transaction, transaction.doc.store, Y.createID(client, clock))
  return { type: typeOf(left), left, right: left.right }
}

function firstPlace(transaction: Y.Transaction, { contentKey, position }: StreamPlace): ItemPlace {
  const { doc } = transaction
  const { item: id, assoc } = Y.decodeRelativePosition(Buffer.from(position, 'base64'))
  if (id === null) {
    const type = doc.share.get(contentKey) ?? doc.get(contentKey)
    if (assoc < 0) return { type, left: null, right: type._start }
    return { type, left: lastItem(type), right: null }
  }
  if (Y.getState(doc.store, id.client) <= id.clock) throw placeRemoved()
  if (assoc < 0) return placeAfter(transaction, id.client, id.clock)
  const right = Y.getItemCleanStart(transaction, id)
  return { type: typeOf(right), left: right.left, right }
}

/** Returns the type that contains an item. @throws ApiError if the type was deleted */
function typeOf(item: Y.Item | Y.GC): SharedRoot {
  if (!(item instanceof Y.Item)) throw placeRemoved()
  const { parent } = item
  if (!(parent instanceof Y.AbstractType) || parent._item?.deleted === true) throw placeRemoved()
  return parent
}

function lastItem(type: SharedRoot): Y.Item | null {
  let last = type._start
  while (last !== null && last.right !== null) last = last.right
  return last
}

function putText(transaction: Y.Transaction, { type, left, right }: ItemPlace, text: string): Y.Item {
  // The positions that Yjs has cached become wrong.
  if (type._searchMarker !== null) type._searchMarker.length = 0
  return putItem(transaction, { type, key: null, left, right }, new Y.ContentString(text))
}

const placeRemoved = (): ApiError =>
  new ApiError(
    'crdt/stream-place-removed',
    'the place of the stream was deleted; read the document again, and open a new stream',
  )
