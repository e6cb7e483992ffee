import * as Y from 'yjs'
import { ApiError, invalid } from '../../base/errors.ts'
import { type IdRange, type StoredId, withoutIds } from '../../update/range-index.ts'
import { keepingKinds } from '../keep-kinds.ts'
import { keptSide, type OverlapPolicy, reportOf } from '../merge/overlap.ts'
import type { ContentSchema } from '../schemas/compiled-schema.ts'
import { checkAgainstSchema, type NamedSchema, schemaOf, violationKeys } from '../schemas/content-schema.ts'
import { markName } from '../schemas/schema-spec.ts'
import { deletedUnits, deleteIds, idOf, itemIn, lastItem, rangeOfItem } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import type { CompleteBlocks } from './complete-blocks.ts'
import { decideWords } from './replaced-words.ts'
import {
  needsNewBlocks,
  placeRemoved,
  putText,
  type SequencePlace,
  unitsWithoutBreaks,
  writeBlocks,
} from './stream-blocks.ts'
import type { ReplacedIds, StreamPlace, TextPlace } from './stream-place.ts'

/** A stream that writes to a document. */
export interface StreamWriter {
  readonly place: StreamPlace
  /** The client id of Yjs with which only this stream writes. */
  readonly client: number
  /**
   * A client id whose clock counts the received units, if the content is written in another form; otherwise null. Its
   * items are garbage of Yjs, which takes some bytes in the document and has no content.
   */
  readonly counter: number | null
}

/** Maximum UTF-16 units of one block of Markdown, and of text in one update of blocks. */
const blockUnitsMax = 32_768

/**
 * Returns how many UTF-16 units of the content of a stream a document contains. The content that others have
 * deleted counts. A stream writes each unit once, with a client id of its own, so the clock of this id counts them.
 * @param clockOf returns the next clock of a client
 */
export function receivedUnits(
  { place, client, counter }: StreamWriter,
  clockOf: (client: number) => number,
): number {
  if (counter !== null) return clockOf(counter)
  return place.as === 'text' ? Math.max(0, clockOf(client) - place.before.length - place.after.length) : 0
}

/**
 * Returns the number of units of `text` that can be written now. The rest waits for more content: half a surrogate pair,
 * line breaks at the end of paragraphs, and the last block of Markdown, which more content can change.
 * @param isEnd true if no more content follows
 * @param blocks the state of the Markdown that waits. The caller must write the units before the next call
 * @throws ApiError INVALID_ARGUMENT if a block is too large, or if too many line breaks wait
 */
export function writableUnits(
  place: StreamPlace,
  text: string,
  isEnd: boolean,
  blocks: CompleteBlocks,
): number {
  if (isEnd) return text.length
  if (place.as === 'text') return wholePairs(text)
  if (place.format === 'text') {
    const complete = unitsWithoutBreaks(text)
    if (complete === 0 && text.length > blockUnitsMax)
      throw invalid(
        'crdt/stream-limit',
        `more than ${blockUnitsMax} line breaks of the stream wait for the text after them; send fewer line breaks`,
      )
    return Math.min(complete, wholePairs(text))
  }
  const units = blocks.take(text)
  if (units === 0 && text.length > blockUnitsMax)
    throw invalid(
      'crdt/stream-limit',
      `a block of Markdown in a stream has more than ${blockUnitsMax} UTF-16 units; use /v2/crdt/edit for it`,
    )
  return units
}

/** Returns the length of a text without half a surrogate pair at its end. */
const wholePairs = (text: string): number =>
  (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800 ? text.length - 1 : text.length

/**
 * Returns whether the next part of the content changes the structure of the document, so that the work depends on the
 * size of the document.
 */
export function changesStructure(doc: Y.Doc, writer: StreamWriter, text: string): boolean {
  const { place, client } = writer
  if (place.as === 'text' || text === '') return false
  const isFirst = receivedUnits(writer, (id) => Y.getState(doc.store, id)) === 0
  return needsNewBlocks(doc, { place, client, isFirst }, text)
}

/** A change of a stream: its next part, or one of its endings. */
export type WriterStep =
  | {
      readonly is: 'write'
      readonly text: string
      readonly schema: NamedSchema | null
      /** As for `writeStreamed`. */
      readonly protects: readonly string[]
    }
  | ({ readonly is: 'replace' } & ReplacedContent)
  | { readonly is: 'withdraw' }

interface ReplacedContent {
  readonly replaced: ReplacedIds
  readonly onOverlap: OverlapPolicy
  /** As for `deleteReplaced`. */
  readonly isRepeated: boolean
}

/**
 * Makes a change in a working copy of the document.
 * @throws ApiError as for `writeStreamed`; INVALID_ARGUMENT if the document does not match the schema afterwards. The
 * copy must then be discarded
 */
export function stepInCopy(doc: Y.Doc, writer: StreamWriter, step: WriterStep): RootReplacement {
  if (step.is === 'replace')
    return deleteReplaced(doc, writer, step.replaced, step.onOverlap, step.isRepeated)
  if (step.is === 'withdraw') return deleteStreamed(doc, writer)
  const { text, schema: named, protects } = step
  const schema = named === null ? null : schemaOf(named)
  const { contentKey } = writer.place
  const before = schema === null ? undefined : violationKeys(doc, contentKey, schema)
  const result = writeStreamed(doc, writer, text, schema, protects)
  if (named !== null && schema !== null) checkAgainstSchema(doc, contentKey, schema, named.name, before)
  return result
}

/**
 * Writes the next part of the content, directly after the part before it. Content that others insert next to it stays
 * next to it.
 * @param text well-formed Unicode; `writableUnits` returns its length
 * @param schema the schema in whose form blocks are written; null without one
 * @param protects names of the marks that the content must not get from text next to it
 * @throws ApiError FAILED_PRECONDITION if the place no longer exists; nothing is changed then
 */
export function writeStreamed(
  doc: Y.Doc,
  writer: StreamWriter,
  text: string,
  schema: ContentSchema | null,
  protects: readonly string[] = [],
): RootReplacement {
  const { place, client, counter } = writer
  if (text === '') return { changed: false, insertions: 0, deletions: 0 }
  doc.transact((transaction) => {
    const own = doc.clientID
    const isFirst = receivedUnits(writer, (id) => Y.getState(doc.store, id)) === 0
    doc.clientID = client
    try {
      if (place.as === 'text') {
        const { type, left, right } = placeOfNext(transaction, place, client, protects)
        putText(transaction, { type, left, right }, place.isOneLine ? text.replace(/[\r\n]/g, ' ') : text)
      } else writeBlocks(transaction, { place, client, contentKey: place.contentKey, schema, isFirst }, text)
      if (counter !== null) count(transaction, counter, text.length)
    } finally {
      doc.clientID = own
    }
  })
  return { changed: true, insertions: text.length, deletions: 0 }
}

/** @param at UTF-16 units of the content before the next piece @param received units that the document contains */
export const streamGap = (at: number, received: number): ApiError =>
  new ApiError(
    'crdt/stream-gap',
    `the piece begins at ${at}, but the server has ${received} units of the content; continue at ${received}`,
    { details: { received } },
  )

/** Adds units to the clock of a counter. */
function count(transaction: Y.Transaction, counter: number, units: number): void {
  const clock = Y.getState(transaction.doc.store, counter)
  new Y.GC(Y.createID(counter, clock), units).integrate(transaction, 0)
}

/**
 * Deletes the content that a stream replaces. Content of others that is inside it stays. Words that others have changed
 * since the opening are overlaps: `onOverlap` decides whether they stay. If it is `fail`, the content of the stream is
 * deleted instead.
 * @param isRepeated true if the content may have been deleted before, because the server crashed before it
 * stored the result
 */
function deleteReplaced(
  doc: Y.Doc,
  writer: StreamWriter,
  { ranges, elements, texts }: ReplacedIds,
  onOverlap: OverlapPolicy,
  isRepeated: boolean,
): RootReplacement {
  const { place, client } = writer
  const done = doneMarker(writer)
  // After a crash, what this end has deleted would look as if others had deleted it.
  if (isRepeated && Y.getState(doc.store, done) > 0) return { changed: false, insertions: 0, deletions: 0 }
  const side = keptSide(onOverlap, false)
  const { overlaps, kept, deleted, inserted } = decideWords(doc, texts, ranges, client, side)
  const report = overlaps.length === 0 ? {} : reportOf(overlaps)
  if (onOverlap === 'fail' && overlaps.length > 0) return { ...deleteStreamed(doc, writer), ...report }
  return doc.transact((transaction) => {
    for (const { before, text } of inserted) {
      const right = Y.getItemCleanStart(transaction, Y.createID(before.client, before.clock))
      putText(transaction, { type: typeOf(right), left: right.left, right }, text)
    }
    const insertions = inserted.reduce((sum, { text }) => sum + text.length, 0)
    const { changed, deletions } = deleting(doc, place, {
      ranges: [...withoutIds(ranges, kept), ...deleted],
      elements,
    })
    const isMarked = texts.length > 0
    if (isMarked) count(transaction, done, 1)
    return { changed: changed || isMarked, insertions, deletions, ...report }
  })
}

/** Returns a client id with a clock above 0 if the end of a stream was carried out. Client ids are random. */
const doneMarker = ({ client }: StreamWriter): number => (client + 1) % 2 ** 32

/** Returns the number of units of the content that a stream replaces, deleted or not. */
export const replacedUnits = ({ ranges, elements }: RemovedIds): number =>
  ranges.reduce((sum, { length }) => sum + length, elements.length)

/** Deletes the content of a stream. Content of others that is inside it stays. */
function deleteStreamed(doc: Y.Doc, { place, client }: StreamWriter): RootReplacement {
  const ranges: IdRange[] = []
  const elements: StoredId[] = []
  for (const item of doc.store.clients.get(client) ?? []) {
    if (!(item instanceof Y.Item) || item.deleted || item.parentSub !== null) continue
    if (item.content instanceof Y.ContentType) elements.push(idOf(item))
    else ranges.push(rangeOfItem(item))
  }
  // A stream creates an element before the content of the element.
  return deleting(doc, place, { ranges, elements: elements.reverse() })
}

type RemovedIds = Pick<ReplacedIds, 'ranges' | 'elements'>

function deleting(
  doc: Y.Doc,
  { contentKey, kind }: Pick<StreamPlace, 'contentKey' | 'kind'>,
  { ranges, elements }: RemovedIds,
): RootReplacement {
  const { store } = doc
  return keepingKinds(doc, new Map([[contentKey, kind]]), () =>
    doc.transact((transaction) => {
      const root = doc.share.get(contentKey)
      if (root !== undefined && root._searchMarker !== null) root._searchMarker.length = 0
      for (const range of ranges)
        if (range.clock + range.length <= Y.getState(store, range.client)) deleteIds(transaction, range)
      for (const { client, clock } of elements) {
        const item = itemIn(doc, { client, clock })
        if (item !== null && !item.deleted && isEmptied(item)) item.delete(transaction)
      }
      const deletions = deletedUnits(transaction)
      return { changed: deletions > 0, insertions: 0, deletions }
    }),
  )
}

/** Returns whether an element has no content any more. */
function isEmptied({ content }: Y.Item): boolean {
  if (!(content instanceof Y.ContentType)) return true
  for (let item = content.type._start; item !== null; item = item.right)
    if (!item.deleted && item.countable) return false
  return true
}

type PlaceInText = TextPlace & Pick<StreamPlace, 'contentKey'>

/** Returns the place of the next part. Before the first part, writes the line breaks around the content. */
function placeOfNext(
  transaction: Y.Transaction,
  place: PlaceInText,
  client: number,
  protects: readonly string[],
): SequencePlace {
  const { before, after } = place
  const clock = Y.getState(transaction.doc.store, client)
  if (clock > before.length + after.length) return placeAfter(transaction, client, clock - 1)
  // The line breaks are written together with the first part.
  if (clock > 0) throw placeRemoved()
  const first = outsideOf(firstPlace(transaction, place), protects)
  const left = before === '' ? first.left : putText(transaction, first, before)
  const right = after === '' ? first.right : putText(transaction, { ...first, left }, after)
  return { type: first.type, left, right }
}

/** Returns the place directly after an id. */
function placeAfter(transaction: Y.Transaction, client: number, clock: number): SequencePlace {
  const left = Y.getItemCleanEnd(transaction, transaction.doc.store, Y.createID(client, clock))
  return { type: typeOf(left), left, right: left.right }
}

/** Returns the place next to the protected marks that end or begin at a place. */
function outsideOf({ type, left, right }: SequencePlace, protects: readonly string[]): SequencePlace {
  const isEdge = ({ content, deleted }: Y.Item, isEnd: boolean): boolean =>
    content instanceof Y.ContentFormat &&
    !deleted &&
    protects.includes(markName(content.key)) &&
    (content.value === null) === isEnd
  const isShown = ({ deleted, countable }: Y.Item): boolean => countable && !deleted
  let place = { type, left, right }
  for (let item = right; item !== null && !isShown(item); item = item.right)
    if (isEdge(item, true)) place = { type, left: item, right: item.right }
  for (let item = left; item !== null && !isShown(item); item = item.left)
    if (isEdge(item, false)) place = { type, left: item.left, right: item }
  return place
}

function firstPlace(transaction: Y.Transaction, { contentKey, position }: PlaceInText): SequencePlace {
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

/** Returns the position at which a stream inserts its next content. Clients draw the caret of the writer there. */
export function streamCursor(doc: Y.Doc, { place, client }: StreamWriter): Y.RelativePosition {
  const { contentKey } = place
  const last = doc.store.clients
    .get(client)
    ?.findLast((item): item is Y.Item => item instanceof Y.Item && item.content instanceof Y.ContentString)
  if (last !== undefined && last.parent instanceof Y.AbstractType)
    return positionAfter(last.parent, contentKey, last.lastId)
  if (place.as === 'text') return Y.decodeRelativePosition(Buffer.from(place.position, 'base64'))
  const parent = place.parent === null ? null : Y.createID(place.parent.client, place.parent.clock)
  const left = place.left === null ? null : Y.createID(place.left.client, place.left.clock)
  return new Y.RelativePosition(parent, parent === null ? contentKey : null, left, -1)
}

const positionAfter = ({ _item: item }: SharedRoot, contentKey: string, id: Y.ID): Y.RelativePosition =>
  new Y.RelativePosition(item === null ? null : item.id, item === null ? contentKey : null, id, -1)
