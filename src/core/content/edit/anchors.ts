import * as Y from 'yjs'
import { ApiError, type ErrorCode } from '../../base/errors.ts'
import { memoized } from '../../base/maps.ts'
import { contentKeyOf, requireRoot, shownName } from '../roots.ts'
import { encodePosition } from '../yjs/items.ts'
import { type RootKind, rootKind, type SharedRoot } from '../yjs/root-kind.ts'
import type { EditTarget, MatchedPlace, QuoteTarget } from './edit.ts'
import { editNotSupported, targetNotFound } from './edit-errors.ts'
import {
  type AnchoredRoot,
  type EncodedRange,
  type FlowPlace,
  indexIn,
  locatePositions,
  positionsOf,
} from './targets/anchor-positions.ts'
import { findQuote } from './targets/find-quote.ts'
import type {
  FlowPiece,
  FlowView,
  TextBlock,
  TextFlow,
  TextFlowPiece,
  TextRange,
} from './targets/flow-view.ts'
import { readLineView } from './targets/line-view.ts'
import { readNestedView } from './targets/nested-view.ts'
import { quoteIn, type ShownQuote, shownQuoteMax } from './targets/places.ts'
import { type ResolvedTarget, resolveTarget } from './targets/resolve.ts'
import { similarPlaces } from './targets/similar-places.ts'
import { readXmlView } from './targets/xml-view.ts'

export interface RequestedAnchor {
  /** Name of the root; undefined if `contentKeyOf` must choose it. */
  readonly contentKey: string | undefined
  /** The text of the anchor; null if only the root is needed. */
  readonly quote: QuoteTarget | null
}

/** A cursor in a request: the text that it selects, or the end of the root. */
export interface RequestedCursor {
  /** Name of the root; undefined if `contentKeyOf` must choose it. */
  readonly contentKey: string | undefined
  readonly target: EditTarget | { readonly is: 'end' }
  /** Position of the cursor in the request, such as `users[0].cursor`, with which messages begin. */
  readonly place: string
}

/** An anchor that is stored: relative positions in base64. */
export interface StoredAnchor {
  readonly contentKey: string
  readonly position: string
  /** Absent if the anchor is a place between two characters. */
  readonly positionEnd?: string
}

/** Queries for the anchors of one document. */
export interface AnchorQueries {
  readonly find: readonly RequestedAnchor[]
  readonly cursors?: readonly RequestedCursor[]
  readonly show: readonly StoredAnchor[]
}

/** The members of an ApiError, because a thread cannot send instances of classes. */
interface AnchorProblem {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Record<string, unknown> | undefined
}

export type FoundAnchor =
  /** The range is null if the request has no quote. */
  { readonly contentKey: string; readonly range: EncodedRange | null } | { readonly problem: AnchorProblem }

/** The text at which an anchor is now. */
export interface AnchorPlace extends ShownQuote {
  /** True if `quote` is only the start of the text. */
  readonly shortened?: true
}

/** The results of `AnchorQueries`, in the same order. A place is null if the text was deleted. */
export interface AnchorAnswers {
  readonly found: readonly FoundAnchor[]
  readonly cursors: readonly FoundAnchor[]
  readonly shown: readonly (AnchorPlace | null)[]
}

/**
 * Finds the quotes of new anchors, the targets of cursors, and the text of stored anchors. Reads each root once. The
 * time is linear in the document for each quote and each cursor, and for all stored anchors together.
 */
export function lookUpAnchors(doc: Y.Doc, { find, cursors = [], show }: AnchorQueries): AnchorAnswers {
  const roots = new RootReader(doc)
  return {
    found: find.map((anchor) => findAnchor(roots, anchor)),
    cursors: cursors.map((cursor) => findCursor(roots, cursor)),
    shown: shownPlaces(roots, show),
  }
}

/**
 * Maximum number of UTF-16 units that are compared with the words of missing quotes. Errors of further quotes
 * have no similar places.
 */
const comparedMax = 8_388_608

/** The roots of a document, each of which is read when it is first used. */
class RootReader {
  readonly doc: Y.Doc
  readonly #read = new Map<string, AnchoredRoot | null>()

  #compared = 0

  constructor(doc: Y.Doc) {
    this.doc = doc
  }

  similarPlaces = (view: FlowView, quote: string): readonly MatchedPlace[] => {
    if (this.#compared > comparedMax) return []
    for (const { text } of view.flows) this.#compared += text.length
    return similarPlaces(view, quote)
  }

  /** Returns a root; null if it does not exist, or if it is a map or an array. */
  at(contentKey: string): AnchoredRoot | null {
    return memoized(this.#read, contentKey, () => {
      const { doc } = this
      const type = doc.share.get(contentKey)
      const view = type === undefined ? null : (viewReaders[rootKind(doc, contentKey)]?.(type) ?? null)
      return view && { view, doc, contentKey }
    })
  }
}

/** The functions that read roots as text; null for kinds without text. */
const viewReaders: Readonly<Record<RootKind, ((root: SharedRoot) => FlowView) | null>> = {
  none: (root) => readLineView(root),
  text: (root) => readLineView(root),
  xml: (root) => readXmlView(root),
  xmltext: (root) => readNestedView(root),
  map: null,
  array: null,
}

/** Name of the anchor in messages. */
const place = 'anchor'

function findAnchor(roots: RootReader, { contentKey: given, quote }: RequestedAnchor): FoundAnchor {
  return problemOr(() => {
    const contentKey = contentKeyOf(roots.doc, given)
    if (quote === null) return { contentKey, range: null }
    const root = textRootAt(roots, contentKey, given, place)
    if (root === null) throw targetNotFound(`${place}: the editor has no content`)
    const [first] = findQuote(root.view, quote, place, roots.similarPlaces)
    return { contentKey, range: positionsOf(root.view, first) }
  })
}

function findCursor(roots: RootReader, { contentKey: given, target, place }: RequestedCursor): FoundAnchor {
  return problemOr(() => {
    const contentKey = contentKeyOf(roots.doc, given)
    const root = textRootAt(roots, contentKey, given, place)
    if (target.is === 'end') return { contentKey, range: root === null ? emptyEnd(contentKey) : endOf(root) }
    if (root === null) throw targetNotFound(`${place}: the editor has no content`)
    const found = resolveTarget({ ...root, resolved: () => {} }, target, place)
    if (target.is !== 'anchor') return { contentKey, range: cursorOf(root, found) }
    const [position, positionEnd] = [target.start, target.end].map((bytes) =>
      Buffer.from(bytes).toString('base64'),
    )
    return { contentKey, range: { position: position as string, positionEnd: positionEnd as string } }
  })
}

/** Returns the result of `find`, or the ApiError that it throws. */
function problemOr(find: () => FoundAnchor): FoundAnchor {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, details } = error
    return { problem: { code, message, details } }
  }
}

/**
 * Returns a root with text; null if the document is empty.
 * @param given the root that the caller has specified, if any
 * @throws ApiError NOT_FOUND if the document has other roots only; INVALID_ARGUMENT for a map or an array
 */
function textRootAt(
  roots: RootReader,
  contentKey: string,
  given: string | undefined,
  place: string,
): AnchoredRoot | null {
  requireRoot(roots.doc, contentKey, given)
  const kind = rootKind(roots.doc, contentKey)
  if (viewReaders[kind] === null) {
    throw editNotSupported(
      `${place}: the root ${shownName(contentKey)} is of type "${kind}"; a quote needs a root with text`,
    )
  }
  return roots.at(contentKey)
}

function shownPlaces(roots: RootReader, anchors: readonly StoredAnchor[]): readonly (AnchorPlace | null)[] {
  const places = new Map<StoredAnchor, AnchorPlace | null>()
  for (const contentKey of new Set(anchors.map((anchor) => anchor.contentKey))) {
    const root = roots.at(contentKey)
    if (root === null) continue
    const inRoot = anchors.filter((anchor) => anchor.contentKey === contentKey)
    const positions = inRoot.flatMap(({ position, positionEnd }) => [position, positionEnd ?? position])
    const found = locatePositions(
      root,
      positions.map((text) => Buffer.from(text, 'base64')),
    )
    for (const [index, anchor] of inRoot.entries()) {
      const [from = null, to = null] = found.slice(2 * index, 2 * index + 2)
      if (from === null || to === null) continue
      const isCaret = anchor.positionEnd === undefined || anchor.positionEnd === anchor.position
      places.set(anchor, shownPlace(root.view, from, to, isCaret))
    }
  }
  return anchors.map((anchor) => places.get(anchor) ?? null)
}

/** Returns the text between two places. Returns null if there is none, and the anchor has had text. */
function shownPlace(view: FlowView, from: FlowPlace, to: FlowPlace, isCaret: boolean): AnchorPlace | null {
  if (from.flow === to.flow) {
    const [start, end] = [from.offset, to.offset]
    if (start > end || (start === end && !isCaret)) return null
    const shown = quoteIn(view, { flow: from.flow, start, end })
    return end - start > shownQuoteMax ? shortened(shown) : shown
  }
  return from.flow > to.flow ? null : placeAcross(view, from, to)
}

/** Returns the text between two places in different flows. The texts of the flows are separated by line feeds. */
function placeAcross(view: FlowView, from: FlowPlace, to: FlowPlace): AnchorPlace | null {
  const end = (view.flows[from.flow] as TextFlow).text.length
  const { quote: first, before } = quoteIn(view, { flow: from.flow, start: from.offset, end })
  let quote = first
  for (let flow = from.flow + 1; flow <= to.flow && quote.length <= shownQuoteMax; flow++) {
    const { text } = view.flows[flow] as TextFlow
    quote += `\n${text.slice(0, flow === to.flow ? Math.min(to.offset, shownQuoteMax) : shownQuoteMax)}`
  }
  if (/^\n*$/.test(quote)) return null
  const shown: AnchorPlace = { quote, ...(before !== undefined && { before }) }
  if (quote.length > shownQuoteMax || end - from.offset > shownQuoteMax) return shortened(shown)
  const { after } = quoteIn(view, { flow: to.flow, start: to.offset, end: to.offset })
  return { ...shown, ...(after !== undefined && { after }) }
}

/** Returns the start of a long text, without `after`. */
const shortened = ({ quote, before }: ShownQuote): AnchorPlace => ({
  quote: quote.slice(0, shownQuoteMax).toWellFormed(),
  ...(before !== undefined && { before }),
  shortened: true,
})

/**
 * Side of a place to which a cursor belongs. `left`: it stays after the character before it. `right`: it stays before
 * the character after it, so that text that is typed at the place is before the cursor.
 */
type Side = 'left' | 'right'

/**
 * Returns the positions of the start and the end of a target. Text that is typed before the first or after the last
 * character does not belong to it. An empty block has two equal places.
 */
function cursorOf(root: AnchoredRoot, target: ResolvedTarget): EncodedRange {
  const [first, last] = rangesOf(root, target)
  return {
    position: positionAt(root, { flow: first.flow, offset: first.start }, 'right'),
    positionEnd: positionAt(root, { flow: last.flow, offset: last.end }, 'left'),
  }
}

/** Returns the position of the end of a root. Text that is appended there is before the position. */
function endOf(root: AnchoredRoot): EncodedRange {
  const flow = root.view.flows.length - 1
  const offset = root.view.flows[flow]?.text.length ?? 0
  const position = positionAt(root, { flow, offset }, 'right')
  return { position, positionEnd: position }
}

/** Returns the position of the end of a root that does not exist yet. */
function emptyEnd(contentKey: string): EncodedRange {
  const position = encodePosition(new Y.RelativePosition(null, contentKey, null))
  return { position, positionEnd: position }
}

function rangesOf({ view }: AnchoredRoot, target: ResolvedTarget): readonly [TextRange, TextRange] {
  if (target.is === 'text') return [target.ranges[0], target.ranges.at(-1) ?? target.ranges[0]]
  if (target.is === 'node' && target.node.inline !== null) return [target.node.inline, target.node.inline]
  const first = view.blocks[target.block] as TextBlock
  const last = target.is === 'node' ? view.blocks[target.node.endBlock - 1] : first
  return [first, last ?? first]
}

function positionAt(root: AnchoredRoot, { flow, offset }: FlowPlace, side: Side): string {
  const piece = pieceAt(root.view.flows[flow], offset, side)
  const assoc = side === 'right' ? 0 : -1
  if (piece === undefined)
    return encodePosition(Y.createRelativePositionFromTypeIndex(typeAt(root, flow, offset), 0, 0))
  if (piece.source === null) {
    const association = offset > piece.start ? -1 : 0
    return encodePosition(new Y.RelativePosition(null, null, piece.item.id, association))
  }
  // Embeds at the place are after a cursor that belongs to the character before them.
  const isAfter = side === 'left' && offset > piece.start
  const index = isAfter ? indexIn(piece, offset - 1) + 1 : indexIn(piece, offset)
  return encodePosition(Y.createRelativePositionFromTypeIndex(piece.source.type, index, assoc))
}

/** Returns the piece at an offset: a text if there is one, because editors have their cursors in texts. */
function pieceAt(flow: TextFlow | undefined, offset: number, side: Side): FlowPiece | undefined {
  const pieces = flow?.pieces.filter(({ start, length }) => start <= offset && offset <= start + length) ?? []
  const texts = pieces.filter((piece): piece is TextFlowPiece => piece.source !== null)
  const found: readonly FlowPiece[] = texts.length > 0 ? texts : pieces
  return side === 'right' ? found.at(-1) : found[0]
}

/** Returns the type that contains a place without text: the element of an empty block, or the root. */
function typeAt({ view, doc, contentKey }: AnchoredRoot, flow: number, offset: number): SharedRoot {
  const block = view.blockNear(flow, offset)
  return (block?.flow === flow ? block.type : null) ?? doc.get(contentKey)
}
