import * as Y from 'yjs'
import { decodePosition, encodePosition, itemIn, typeWithId } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  type FlowView,
  indexAtOffset,
  type TextFlow,
  type TextFlowPiece,
  type TextRange,
} from './flow-view.ts'

export interface AnchoredRoot {
  readonly view: FlowView
  readonly doc: Y.Doc
  readonly contentKey: string
}

/** A place in a view: an offset of a flow. */
export type FlowPlace = NonNullable<ReturnType<FlowView['locate']>>

/**
 * Returns the places of relative positions, each encoded as by `Y.encodeRelativePosition`. A place is null if
 * the view does not contain the position. The time is linear in the root and the number of positions.
 */
export function locatePositions(
  { view, doc, contentKey }: AnchoredRoot,
  positions: readonly Uint8Array[],
): readonly (FlowPlace | null)[] {
  const found = positions.map((encoded) => storedPosition(doc, contentKey, encoded))
  const indexes = indexesOf(found.flatMap((each) => (each?.item === undefined ? [] : [each.item])))
  return found.map((each) => {
    if (each === null) return null
    const before = each.item === undefined ? 0 : (indexes.get(each.item) ?? 0)
    return view.locate(each.type, before + each.offset)
  })
}

/** A position in a shared type: an offset from the start of an item, or from the start of the type. */
interface StoredPosition {
  readonly type: SharedRoot
  readonly item?: Y.Item
  readonly offset: number
}

/** As `Y.createAbsolutePositionFromRelativePosition`, which counts all items before each position. */
function storedPosition(doc: Y.Doc, contentKey: string, encoded: Uint8Array): StoredPosition | null {
  const position = decodePosition(encoded)
  if (position === null) return null
  const { item: id, tname, assoc } = position
  if (id !== null) {
    const item = itemIn(doc, id)
    if (!(item?.parent instanceof Y.AbstractType)) return null
    const isShown = !item.deleted && item.countable
    const offset = isShown ? id.clock - item.id.clock + (assoc >= 0 ? 0 : 1) : 0
    return { type: item.parent, item, offset }
  }
  const type = position.type === null ? rootOf(doc, contentKey, tname) : typeWithId(doc, position.type)
  return type === null ? null : { type, offset: assoc >= 0 ? type._length : 0 }
}

/** Returns the root that a position names. Yjs would create a root that does not exist. */
const rootOf = (doc: Y.Doc, contentKey: string, name: string | null): SharedRoot | null =>
  name === contentKey ? (doc.share.get(contentKey) ?? null) : null

/** Returns the index at which each item starts in its shared type. */
function indexesOf(items: readonly Y.Item[]): ReadonlyMap<Y.Item, number> {
  const wanted = new Set(items)
  const indexes = new Map<Y.Item, number>()
  for (const type of new Set(items.map(({ parent }) => parent))) {
    let index = 0
    const first = type instanceof Y.AbstractType ? type._start : null
    for (let item = first; item !== null; item = item.right) {
      if (wanted.has(item)) indexes.set(item, index)
      if (!item.deleted && item.countable) index += item.length
    }
  }
  return indexes
}

/** The relative positions of the start and the end of a text, each encoded and in base64. */
export interface EncodedRange {
  readonly position: string
  readonly positionEnd: string
}

/**
 * Returns the positions of the text in a range. Text that is typed before the first or after the last character
 * does not belong to it. Returns null if the range has no characters of a shared text.
 */
export function positionsOf(view: FlowView, { flow, start, end }: TextRange): EncodedRange | null {
  const { pieces } = view.flows[flow] as TextFlow
  const inside = pieces.filter(
    (piece): piece is TextFlowPiece =>
      piece.source !== null && piece.start < end && piece.start + piece.length > Math.max(start, piece.start),
  )
  const [first, last] = [inside[0], inside.at(-1)]
  if (first === undefined || last === undefined) return null
  const from = indexIn(first, Math.max(start, first.start))
  const to = indexIn(last, Math.min(end, last.start + last.length) - 1) + 1
  return {
    position: encodePosition(Y.createRelativePositionFromTypeIndex(first.source.type, from, 0)),
    positionEnd: encodePosition(Y.createRelativePositionFromTypeIndex(last.source.type, to, -1)),
  }
}

/** Returns the index in its shared text of the character at an offset of the flow. Embeds at the offset are before it. */
export const indexIn = ({ start, from, index, source: { state } }: TextFlowPiece, offset: number): number =>
  index === undefined ? indexAtOffset(state, offset - start + from, true) : index + offset - start
