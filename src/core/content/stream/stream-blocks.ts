import * as Y from 'yjs'
import { ApiError } from '../../base/errors.ts'
import type { StoredId } from '../../update/range-index.ts'
import { blockContent } from '../edit/check-edits.ts'
import type { InsertedContent } from '../edit/edit.ts'
import { blockNote, rowAround } from '../edit/targets/xml-names.ts'
import { readXmlView } from '../edit/targets/xml-view.ts'
import { linesOf } from '../edit/writing/root-edits.ts'
import { type ChildPlace, nameOf } from '../edit/writing/tree-places.ts'
import { XmlEdits } from '../edit/writing/xml-edits.ts'
import { markdownPart } from '../markdown/markdown.ts'
import { type ContentSchema, nodeSchema } from '../schemas/compiled-schema.ts'
import { putItem } from '../values/write-edits.ts'
import { itemIn, parentOf, typeWithId } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { BlockPlace } from './stream-place.ts'

interface BlockWriter {
  readonly place: BlockPlace
  readonly client: number
  readonly contentKey: string
  readonly schema: ContentSchema | null
  /** True if the stream has written nothing yet. */
  readonly isFirst: boolean
}

/**
 * Returns whether the next part of a stream has to be written as new blocks. Text without a line break continues the
 * last paragraph, and keeps its structure.
 */
export const needsNewBlocks = (
  doc: Y.Doc,
  { place, client, isFirst }: Pick<BlockWriter, 'place' | 'client' | 'isFirst'>,
  text: string,
): boolean =>
  place.format === 'markdown' || isFirst || wholeLines(text).length > 1 || lastText(doc, client) === null

/** The edit of a stream, as messages name it. */
const editName = 'edit'

/**
 * Writes the next part of a stream as blocks after its last block. Text continues the last paragraph, and each line break
 * begins a new one.
 * @throws ApiError FAILED_PRECONDITION if the place no longer exists; nothing is changed then
 */
export function writeBlocks(transaction: Y.Transaction, writer: BlockWriter, text: string): void {
  const { place, client, isFirst } = writer
  if (place.format === 'markdown') {
    if (text.trim() === '') return
    const definitions = isFirst ? '' : definitionsOf(transaction.doc, client)
    insertBlocks(transaction, writer, blockContent(markdownPart(definitions), text))
    return
  }
  const lines = wholeLines(text)
  const last = isFirst ? null : lastText(transaction.doc, client)
  const [first = '', ...others] = lines
  if (last === null) return insertText(transaction, writer, lines)
  if (others.length > 0) childPlaceOf(transaction, writer)
  if (first !== '')
    putText(transaction, { type: last.parent as SharedRoot, left: last, right: last.right }, first)
  if (others.length === 0) return
  try {
    insertText(transaction, writer, others)
  } catch (cause) {
    // The room must not continue with half of the change.
    throw new Error('a stream has written only a part of an update', { cause })
  }
}

/** Returns the lines of a text without the line breaks at its end. */
const wholeLines = (text: string): string[] => linesOf(text.slice(0, unitsWithoutBreaks(text)))

const insertText = (transaction: Y.Transaction, writer: BlockWriter, lines: readonly string[]): void =>
  insertBlocks(transaction, writer, { format: 'text', text: lines.join('\n') })

function insertBlocks(transaction: Y.Transaction, writer: BlockWriter, content: InsertedContent): void {
  const { doc } = transaction
  const { contentKey, schema, place, isFirst } = writer
  const type = doc.share.get(contentKey) ?? doc.get(contentKey)
  const inCell = isFirst ? null : writtenInCell(transaction, writer)
  const rows = inCell === 'blocks' ? null : inCell
  const at = rows ?? childPlaceOf(transaction, writer)
  const target = {
    view: readXmlView(type),
    type,
    doc,
    contentKey,
    schema: nodeSchema(schema),
    resolved: () => {},
  }
  const [side, onlyRows] = [isFirst ? place.side : 'after', place.onlyRows || rows !== null]
  const edits = new XmlEdits(transaction, target, editName)
  edits.insertAt({ place: at, side, onlyRows }, content, inCell === 'blocks')
}

/** The start of a definition of a link. */
const definitionStart = /^\[[^[\]]{1,999}\]:[ \t]*\S/

/** Maximum UTF-16 units of the definitions that later blocks can use, because each part reads them again. */
const definitionUnitsMax = 16_384

/**
 * Returns the definitions of links that a stream has written, as Markdown. They are paragraphs of the document, so that
 * any connection of the stream finds them.
 */
function definitionsOf({ store }: Y.Doc, client: number): string {
  const definitions: string[] = []
  let units = 0
  for (const item of store.clients.get(client) ?? []) {
    if (!(item instanceof Y.Item) || item.deleted || !(item.content instanceof Y.ContentString)) continue
    const { str } = item.content
    if (!str.startsWith('[') || item.parentSub !== null || !definitionStart.test(str)) continue
    units += str.length
    if (units > definitionUnitsMax) break
    definitions.push(str)
  }
  return definitions.join('\n\n')
}

/** Returns the last text of a stream, if it still exists and others have not deleted its paragraph. */
function lastText(doc: Y.Doc, client: number): Y.Item | null {
  // Attributes are written after the content of their element.
  const last = doc.store.clients
    .get(client)
    ?.findLast((item) => !(item instanceof Y.Item && item.parentSub !== null))
  if (!(last instanceof Y.Item) || !(last.parent instanceof Y.XmlText)) return null
  return last.parent._item?.deleted === true ? null : last
}

/** Returns the place after the last block of the stream, or the place of its first block. */
function childPlaceOf(
  { doc }: Y.Transaction,
  { place, client, contentKey, isFirst }: BlockWriter,
): ChildPlace {
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  const parent = place.parent === null ? root : typeAt(doc, place.parent)
  const last = isFirst ? null : lastChild(doc, client, parent)
  if (last !== null) {
    const group = last.content instanceof Y.ContentType ? last.content.type : null
    // In an empty document of BlockNote, the first block of the stream has created the group of all blocks.
    if (place.parent !== null || group === null || nameOf(group) !== blockNote.group)
      return { parent, after: last }
    return { parent: group, after: lastChild(doc, client, group) }
  }
  if (place.left === null) return { parent, after: null }
  const left = itemIn(doc, place.left)
  if (left === null || left.parent !== parent) throw placeRemoved()
  return { parent, after: left }
}

/**
 * Returns what a stream in a cell has written: `blocks` in the cell, or rows of the table of the cell, with the place
 * after them. Returns null if it has written nothing there.
 */
function writtenInCell({ doc }: Y.Transaction, { place, client }: BlockWriter): ChildPlace | 'blocks' | null {
  if (place.parent === null) return null
  const cell = typeAt(doc, place.parent)
  const row = rowAround(cell)
  if (row === null || row === cell) return null
  if (lastChild(doc, client, cell) !== null) return 'blocks'
  const table = parentOf(row)
  const after = table === null ? null : lastChild(doc, client, table)
  return table === null || after === null ? null : { parent: table, after }
}

/** Returns the child of `parent` with the latest content of the stream; null if there is none. */
function lastChild(doc: Y.Doc, client: number, parent: SharedRoot): Y.Item | null {
  const structs = doc.store.clients.get(client) ?? []
  for (let index = structs.length - 1; index >= 0; index--) {
    let item: Y.Item | Y.GC | null = structs[index] as Y.Item | Y.GC
    while (item instanceof Y.Item && item.parent !== parent)
      item = item.parent instanceof Y.AbstractType ? item.parent._item : null
    if (item instanceof Y.Item) return item
  }
  return null
}

function typeAt(doc: Y.Doc, id: StoredId): SharedRoot {
  const type = typeWithId(doc, id)
  if (type === null || type._item?.deleted === true) throw placeRemoved()
  return type
}

/** A place between two items of a shared type. */
export interface SequencePlace {
  readonly type: SharedRoot
  readonly left: Y.Item | null
  readonly right: Y.Item | null
}

/** Inserts text. */
export function putText(
  transaction: Y.Transaction,
  { type, left, right }: SequencePlace,
  text: string,
): Y.Item {
  // The positions that Yjs has cached become wrong.
  if (type._searchMarker !== null) type._searchMarker.length = 0
  return putItem(transaction, { type, key: null, left, right }, new Y.ContentString(text))
}

export const placeRemoved = (): ApiError =>
  new ApiError(
    'crdt/stream-place-removed',
    'the place of the stream was deleted; read the document again, and open a new stream',
  )

/** Returns the length of a text without the line breaks at its end. */
export function unitsWithoutBreaks(text: string): number {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1
  return end
}
