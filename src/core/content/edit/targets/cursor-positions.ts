import * as Y from 'yjs'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  type AnchoredRoot,
  type EncodedRange,
  encodePosition,
  type FlowPlace,
  indexIn,
  type TextFlowPiece,
} from './anchor-positions.ts'
import type { FlowPiece, TextBlock, TextFlow, TextRange } from './flow-view.ts'
import type { ResolvedTarget } from './resolve.ts'

/**
 * Side of a place to which a cursor belongs. `left`: it stays after the character before it. `right`: it stays before
 * the character after it, so that text that is typed at the place is before the cursor.
 */
type Side = 'left' | 'right'

/**
 * Returns the positions of the start and the end of a target. Text that is typed before the first or after the last
 * character does not belong to it. An empty block has two equal places.
 */
export function cursorOf(root: AnchoredRoot, target: ResolvedTarget): EncodedRange {
  const [first, last] = rangesOf(root, target)
  return {
    position: positionAt(root, { flow: first.flow, offset: first.start }, 'right'),
    positionEnd: positionAt(root, { flow: last.flow, offset: last.end }, 'left'),
  }
}

/** Returns the position of the end of a root. Text that is appended there is before the position. */
export function endOf(root: AnchoredRoot): EncodedRange {
  const flow = root.view.flows.length - 1
  const offset = root.view.flows[flow]?.text.length ?? 0
  const position = positionAt(root, { flow, offset }, 'right')
  return { position, positionEnd: position }
}

/** Returns the position of the end of a root that does not exist yet. */
export function emptyEnd(contentKey: string): EncodedRange {
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
