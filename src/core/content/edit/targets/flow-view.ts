import type * as Y from 'yjs'
import { firstIndex } from '../../../base/search.ts'
import type { Json } from '../../json/json.ts'
import { entryIn, readStoredValue } from '../../stored/shared-values.ts'
import type { PlainTextState } from '../../text/text-state.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { WorkLimit } from '../work-limit.ts'

/** A shared text with its content. */
export interface TextSource {
  readonly type: SharedRoot
  readonly state: PlainTextState
}

/** A range of a flow that is stored in one place: characters of one shared text, or one inline element. */
export type FlowPiece = {
  /** Offset in the flow. */
  readonly start: number
  readonly length: number
} & (
  | {
      readonly source: TextSource
      /** Offset in the string of `source`. */
      readonly from: number
      /** Index in the shared type of `source`; absent if it follows from `from`. */
      readonly index?: number
      /** In Lexical: the map before the text; null if the text has none, so that new text must insert it. */
      readonly textNode?: Y.Item | null
    }
  | {
      readonly source: null
      readonly item: Y.Item
      /** True for an element with text of its own, which an edit of this text must keep. */
      readonly isKept: boolean
    }
)

/** A piece that is text. */
export type TextFlowPiece = Extract<FlowPiece, { source: TextSource }>

/** Text in which a quote can match without crossing a block. */
export interface TextFlow {
  /** The stored text. A hard break is a line feed, and any other inline element is U+FFFC. */
  readonly text: string
  readonly pieces: readonly FlowPiece[]
}

/** A block: a range of a flow. In a text root it is a line without its line break, otherwise a whole flow. */
export interface TextBlock {
  readonly flow: number
  readonly start: number
  readonly end: number
  /** Level of the heading; null if the block is not a heading. */
  readonly level: number | null
  /** The shared type of the block; null if the block has none of its own. */
  readonly type: SharedRoot | null
}

/** A node of the document that is not text: an element, or a nested text with attributes. */
export interface ViewNode {
  readonly type: SharedRoot
  /** Indexes of the first block in the node, and of the first block after it. */
  readonly firstBlock: number
  readonly endBlock: number
  /** The range of its placeholder, if the node is an inline element. */
  readonly inline: TextRange | null
}

/** A node or a line with an attribute. */
export interface NodeWithAttribute {
  readonly node: ViewNode | null
  /** Index of the block that the node is, or that it starts with. */
  readonly block: number
  readonly value: Json
}

/** The texts of a root in the order of the document. */
export interface FlowView {
  readonly flows: readonly TextFlow[]
  readonly blocks: readonly TextBlock[]
  /** Limits the work of finding a place in the view. */
  readonly work: WorkLimit
  /** Returns the block that contains an offset of a flow, or that precedes it; undefined if there are no blocks. */
  blockNear(flow: number, offset: number): TextBlock | undefined
  /** Returns the attributes of the element or the line of a block. */
  attributesOf(block: TextBlock): Readonly<Record<string, Json>>
  /** Returns the nodes (in a text root: the lines) that have an attribute, in the order of the document. */
  nodesWith(name: string): Iterable<NodeWithAttribute>
  /** Returns the flow and the offset of a position in a shared text; null if the view does not contain it. */
  locate(type: SharedRoot, index: number): { readonly flow: number; readonly offset: number } | null
}

/** Returns the offset in the string of a text for an index of its shared type, which counts embeds. */
export const offsetAtIndex = (state: PlainTextState, index: number): number => offsetsOf(state)(index)

/** Returns `offsetAtIndex` of a text, for many calls. The embeds are read once. */
export function offsetsOf({ text, embeds }: PlainTextState): (index: number) => number {
  const starts: number[] = []
  let before = 0
  for (const { at, length } of embeds) {
    starts.push(at + before)
    before += length
  }
  return (index) => {
    const last = firstIndex(starts.length, (at) => (starts[at] as number) >= index) - 1
    const [start, embed] = [starts[last], embeds[last]]
    if (start === undefined || embed === undefined) return Math.min(text.length, index)
    return Math.min(text.length, embed.at + Math.max(0, index - start - embed.length))
  }
}

/**
 * Returns the index in the shared type for an offset in its string.
 * @param afterEmbeds whether the index is after the embeds at this offset
 */
export function indexAtOffset({ embeds }: PlainTextState, offset: number, afterEmbeds: boolean): number {
  let index = offset
  for (const { at, length } of embeds) {
    if (at > offset || (at === offset && !afterEmbeds)) break
    index += length
  }
  return index
}

export interface TextRange {
  readonly flow: number
  readonly start: number
  readonly end: number
}

/** Yields the pieces with a part of a range, and the start and the end of this part in the piece. */
export function* piecesIn(
  { flows }: FlowView,
  { flow, start, end }: TextRange,
): Generator<readonly [piece: FlowPiece, from: number, to: number]> {
  for (const piece of (flows[flow] as TextFlow).pieces) {
    const from = Math.max(start, piece.start) - piece.start
    const to = Math.min(end, piece.start + piece.length) - piece.start
    if (from < to) yield [piece, from, to]
  }
}

/** Character that stands for an inline element. No quote contains it. */
export const inlinePlaceholder = '\ufffc'

/** Returns the index of the block that contains an offset of a flow, or that precedes it. */
export function blockAt({ blocks }: Pick<FlowView, 'blocks'>, flow: number, offset: number): number {
  const next = firstIndex(blocks.length, (index) => {
    const block = blocks[index] as TextBlock
    return block.flow > flow || (block.flow === flow && block.start > offset)
  })
  return Math.max(0, next - 1)
}

export const textIn = ({ flows }: FlowView, { flow, start, end }: TextRange): string =>
  (flows[flow] as TextFlow).text.slice(start, end)

/** Yields the nodes that have an attribute, with its value. A value of null counts as absent. */
export function* nodesWith(nodes: Iterable<ViewNode>, name: string): Generator<NodeWithAttribute> {
  for (const node of nodes) {
    const value = readStoredValue(entryIn(node.type, name))?.json ?? null
    if (value !== null) yield { node, block: node.firstBlock, value }
  }
}

/** Returns the index of the first block after the section of a heading. */
export function sectionEnd({ blocks }: FlowView, heading: number): number {
  const level = blocks[heading]?.level ?? 0
  for (let index = heading + 1; index < blocks.length; index++) {
    const next = (blocks[index] as TextBlock).level
    if (next !== null && next <= level) return index
  }
  return blocks.length
}
