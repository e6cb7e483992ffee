import * as Y from 'yjs'
import type { IdRange, StoredId } from '../../update/range-index.ts'
import { isQuill } from '../blocks/quill/quill-dialect.ts'
import { kindFor, withFormat } from '../edit/apply-edits.ts'
import { checkEdit, type TargetRequest } from '../edit/check-edits.ts'
import type { Edit, MatchedPlace } from '../edit/edit.ts'
import { editNotSupported, targetNotFound } from '../edit/edit-errors.ts'
import { positionsOf } from '../edit/targets/anchor-positions.ts'
import { type FlowView, indexAtOffset, piecesIn, type TextRange } from '../edit/targets/flow-view.ts'
import { readLineView } from '../edit/targets/line-view.ts'
import { placeOfTarget, resolveTarget } from '../edit/targets/resolve.ts'
import { readXmlView } from '../edit/targets/xml-view.ts'
import type { TextKind } from '../edit/text-edit.ts'
import { insertionPlace, rangeOfTarget } from '../edit/writing/line-edits.ts'
import type { ChildPlace } from '../edit/writing/tree-places.ts'
import { XmlEdits } from '../edit/writing/xml-edits.ts'
import { contentKeyOf, requireRoot, shownName } from '../roots.ts'
import { type ContentSchema, kindOfSchema, nodeSchema } from '../schemas/compiled-schema.ts'
import { checkRepresentable } from '../unsupported-content.ts'
import { encodePosition, idOf, idsBetween, isStored, rangeOfItem } from '../yjs/items.ts'
import { rootKind, type SharedRoot } from '../yjs/root-kind.ts'
import { type ReplacedText, replacedTexts } from './replaced-words.ts'

export const streamFormats = ['text', 'markdown'] as const

type StreamFormat = (typeof streamFormats)[number]

/** An insertion or a replacement whose content arrives in pieces: exactly one of the members. */
interface StreamEditRequest {
  readonly insert?: {
    readonly before?: TargetRequest
    readonly after?: TargetRequest
    readonly into?: TargetRequest
    readonly at?: string
  }
  readonly replace?: { readonly find: TargetRequest; readonly occurrence?: number }
}

/** The place of a stream, as the caller names it. */
export interface StreamPlaceRequest {
  /** As in `ContentTarget`. */
  readonly contentKey?: string | undefined
  readonly edit: StreamEditRequest
  readonly format: StreamFormat
}

/** A place inside one shared text, in which the content is written as it is. */
export interface TextPlace {
  readonly as: 'text'
  /** The place of the first piece: a relative position in base64. */
  readonly position: string
  /** Line breaks around the whole content of the stream. */
  readonly before: '' | '\n'
  readonly after: '' | '\n'
  /** True if line breaks of the content become spaces, because the text is one block. */
  readonly isOneLine: boolean
}

/** A place among the children of an XML type, at which the content becomes blocks. */
export interface BlockPlace {
  readonly as: 'blocks'
  readonly format: StreamFormat
  /** The type that contains the blocks; null: the root. */
  readonly parent: StoredId | null
  /** The sibling after which the first block is inserted; null: at the start. */
  readonly left: StoredId | null
  /** As in `XmlInsertion`. */
  readonly side: 'before' | 'after' | null
  /** As in `XmlInsertion`. */
  readonly onlyRows: boolean
}

/** The place of a stream in the ids of Yjs, so that it stays the same place after edits of others. */
export type StreamPlace = { readonly contentKey: string; readonly kind: TextKind } & (TextPlace | BlockPlace)

export interface ReplacedIds {
  readonly ranges: readonly IdRange[]
  /** Elements, inner ones first. An element stays if others have inserted content into it. */
  readonly elements: readonly StoredId[]
  /** The texts that contain the ranges. */
  readonly texts: readonly ReplacedText[]
}

/** A place that was found in a document. */
export interface FoundStreamPlace {
  readonly place: StreamPlace
  readonly replaced: ReplacedIds
  /** The target, as the response describes it. */
  readonly matched: MatchedPlace
}

/** The edit of a stream, as messages name it. */
const editName = 'edit'
/** Maximum number of ranges and elements that a stream can replace. */
const replacedMax = 50_000
export const nothingReplaced: ReplacedIds = { ranges: [], elements: [], texts: [] }

/** Runs all checks of a request that need no document. @throws ApiError INVALID_ARGUMENT */
export const checkStreamEdit = ({ edit: { insert, replace } }: Pick<StreamPlaceRequest, 'edit'>): Edit =>
  withFormat(
    checkEdit(
      {
        ...(insert !== undefined && { insert: { ...insert, content: '', format: 'text' } }),
        ...(replace !== undefined && { replace: { ...replace, with: '', format: 'text' } }),
      },
      editName,
    ),
    () => false,
  )

/**
 * Finds the place of a stream. Reads the whole root, and changes nothing.
 * @param schema the schema of the root; null without one
 * @throws ApiError as for `applyEdits`
 */
export function findStreamPlace(
  doc: Y.Doc,
  request: StreamPlaceRequest,
  schema: ContentSchema | null,
): FoundStreamPlace {
  const edit = checkStreamEdit(request)
  const contentKey = contentKeyOf(doc, request.contentKey)
  requireRoot(doc, contentKey, request.contentKey)
  const isProse = request.format === 'markdown'
  const kind = kindFor(rootKind(doc, contentKey), edit, contentKey, schema?.is === 'nodes')
  checkRepresentable(doc, contentKey, kind)
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  if (kind === 'text') {
    if (isProse && isQuill(root, contentKey, schema === null ? undefined : kindOfSchema(schema)))
      throw editNotSupported(
        `${editName}: the root ${shownName(contentKey)} is a text of Quill; a stream writes it with the format text`,
      )
    return checkedSize(placeInText(doc, root, contentKey, edit))
  }
  if (kind === 'xml') return checkedSize(placeInXml(doc, root, contentKey, edit, request.format, schema))
  throw editNotSupported(
    `${editName}: the root ${shownName(contentKey)} is of type "${kind}"; a stream needs a root of type "text" or "xml"`,
  )
}

function checkedSize(found: FoundStreamPlace): FoundStreamPlace {
  const { ranges, elements } = found.replaced
  if (ranges.length + elements.length > replacedMax)
    throw editNotSupported(
      `${editName}: the target has more than ${replacedMax} parts; replace a smaller one`,
    )
  return found
}

/**
 * Returns a place that was found in an earlier version, if the document still has a part of the replaced content.
 * @throws ApiError FAILED_PRECONDITION if all of it was deleted
 */
export function requireReplaced(doc: Y.Doc, found: FoundStreamPlace): FoundStreamPlace {
  const { ranges, elements } = found.replaced
  const all = [...ranges, ...elements.map((id) => ({ ...id, length: 1 }))]
  if (all.length > 0 && !all.some((range) => isStored(doc, range)))
    throw targetNotFound(`${editName}: the target was deleted after baseVersion`)
  return found
}

/** The neighbor to which a position sticks when others insert text there. */
type Neighbor = 'left' | 'right'

function placeInText(doc: Y.Doc, root: SharedRoot, contentKey: string, edit: Edit): FoundStreamPlace {
  const view = readLineView(root)
  const { state } = view.source
  const around = (
    at: number,
    neighbor: Neighbor,
    before: '' | '\n' = '',
    after: '' | '\n' = '',
  ): StreamPlace => ({
    contentKey,
    kind: 'text',
    as: 'text',
    position: positionAt(root, indexAtOffset(state, at, neighbor === 'right'), neighbor),
    before,
    after,
    isOneLine: false,
  })
  if (edit.is === 'insert' && !('target' in edit.place)) {
    const isStart = edit.place.at === 'start'
    const place = isStart ? around(0, 'left') : around(state.text.length, 'right')
    return { place, replaced: nothingReplaced, matched: {} }
  }
  const target = { view, doc, contentKey, resolved: () => {} }
  if (edit.is === 'insert' && 'target' in edit.place) {
    const found = resolveTarget(target, edit.place.target, editName)
    const { at, before, after } = insertionPlace(view, edit.place.at, found)
    const neighbor = edit.place.at === 'before' ? 'right' : 'left'
    const place = around(at, neighbor, before, after)
    return { place, replaced: nothingReplaced, matched: placeOfTarget(view, found) }
  }
  if (edit.is !== 'replace') throw new TypeError(`a stream cannot be an edit ${edit.is}`)
  const found = resolveTarget(target, edit.target, editName)
  const [start, end] = rangeOfTarget(view, found)
  const [from, to] = [indexAtOffset(state, start, true), indexAtOffset(state, end, false)]
  return {
    place: around(end, 'left'),
    replaced: replacedIn(doc, idsBetween(root, from, to)),
    matched: placeOfTarget(view, found),
  }
}

/** Returns a relative position in base64. It sticks to a character, or to the end of the type. */
function positionAt(type: SharedRoot, index: number, neighbor: Neighbor): string {
  return encodePosition(Y.createRelativePositionFromTypeIndex(type, index, neighbor === 'left' ? -1 : 0))
}

function placeInXml(
  doc: Y.Doc,
  root: SharedRoot,
  contentKey: string,
  edit: Edit,
  format: StreamFormat,
  schema: ContentSchema | null,
): FoundStreamPlace {
  const view = readXmlView(root)
  const isProse = format === 'markdown'
  return doc.transact((transaction) => {
    const target = { view, type: root, doc, contentKey, schema: nodeSchema(schema), resolved: () => {} }
    const edits = new XmlEdits(transaction, target, editName)
    const inText = (ranges: readonly TextRange[], neighbor: Neighbor): StreamPlace => ({
      contentKey,
      kind: 'xml',
      as: 'text',
      position: positionNextTo(view, ranges, neighbor),
      before: '',
      after: '',
      isOneLine: true,
    })
    const atPlace = (
      { parent, after }: ChildPlace,
      { side, onlyRows }: Pick<BlockPlace, 'side' | 'onlyRows'>,
    ): StreamPlace => ({
      contentKey,
      kind: 'xml',
      as: 'blocks',
      format,
      parent: parent._item === null ? null : idOf(parent._item),
      left: after === null ? null : idOf(after),
      side,
      onlyRows,
    })
    if (edit.is === 'insert') {
      const found = edits.placeOfInsertion(edit.place, isProse)
      const neighbor = edit.place.at === 'before' ? 'right' : 'left'
      const place = found.is === 'text' ? inText(found.ranges, neighbor) : atPlace(found.place, found)
      return { place, replaced: nothingReplaced, matched: edits.matched }
    }
    if (edit.is !== 'replace') throw new TypeError(`a stream cannot be an edit ${edit.is}`)
    const found = edits.targetOfReplacement(edit.target, isProse)
    const [place, replaced] =
      found.is === 'blocks'
        ? [atPlace(found.place, found), contentIn(doc, found.unit)]
        : [inText(found.ranges, 'left'), contentOf(doc, view, found.ranges)]
    return { place, replaced, matched: edits.matched }
  })
}

/** Returns the position directly before or after the text of ranges. @throws ApiError if they have no text */
function positionNextTo(view: FlowView, ranges: readonly TextRange[], neighbor: Neighbor): string {
  const range = neighbor === 'right' ? ranges[0] : ranges.at(-1)
  const positions = range === undefined ? null : positionsOf(view, range)
  if (positions === null)
    throw editNotSupported(
      `${editName}: the target has no text; insert the content before or after its block`,
    )
  return neighbor === 'right' ? positions.position : positions.positionEnd
}

/** Returns the text and the inline elements in ranges. */
function contentOf(doc: Y.Doc, view: FlowView, textRanges: readonly TextRange[]): ReplacedIds {
  const ranges: IdRange[] = []
  for (const range of textRanges) {
    for (const [piece, from, to] of piecesIn(view, range)) {
      if (piece.source === null) ranges.push(rangeOfItem(piece.item))
      else {
        const { type, state } = piece.source
        const [first, last] = [
          indexAtOffset(state, piece.from + from, true),
          indexAtOffset(state, piece.from + to, false),
        ]
        ranges.push(...idsBetween(type, first, last))
      }
    }
  }
  return replacedIn(doc, ranges)
}

/** Returns an element and everything in it. */
function contentIn(doc: Y.Doc, unit: SharedRoot): ReplacedIds {
  const ranges: IdRange[] = []
  const elements: StoredId[] = []
  const waiting: SharedRoot[] = [unit]
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (type._item !== null) elements.push(idOf(type._item))
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      if (item.content instanceof Y.ContentType) waiting.push(item.content.type)
      else ranges.push(rangeOfItem(item))
    }
  }
  return replacedIn(doc, ranges, elements.reverse())
}

const replacedIn = (
  doc: Y.Doc,
  ranges: readonly IdRange[],
  elements: readonly StoredId[] = [],
): ReplacedIds => ({ ranges, elements, texts: replacedTexts(doc, ranges) })
