import * as Y from 'yjs'
import { memoized } from '../../../base/maps.ts'
import { limits } from '../../../model/limits.ts'
import { Output } from '../../output.ts'
import { readAttributes } from '../../xmltext/reader.ts'
import { parentOf } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { WorkLimit } from '../work-limit.ts'
import { type BlockLayout, ElementIndex } from './element-index.ts'
import {
  blockAt,
  type FlowPiece,
  type FlowView,
  nodesWith,
  offsetsOf,
  type TextSource,
  type ViewNode,
} from './flow-view.ts'
import { IndexedElement } from './indexed-element.ts'

/** An XML root as a list of blocks, each of which is one flow. */
export interface XmlFlowView extends FlowView, Pick<BlockLayout, 'paragraphName' | 'inlineNames'> {}

/**
 * Reads an XML root. The time is linear in the number of items.
 * @param index the elements of the root; default: the elements are read now
 */
export function readXmlView(
  root: SharedRoot,
  work = new WorkLimit(),
  index = new ElementIndex(root),
): XmlFlowView {
  index.read(work)
  const { blocks, paragraphName, inlineNames } = index.layout(work)
  const offsets = new Map<TextSource, (index: number) => number>()
  return {
    flows: blocks,
    blocks,
    work,
    blockNear: (flow, offset) => blocks[blockAt({ blocks }, flow, offset)],
    paragraphName,
    inlineNames,
    attributesOf: ({ type }) => (type === null ? {} : readAttributes(type, new Output())),
    nodesWith: (name) => nodesWith(nodesIn(index.root), name),
    locate: (type, at) => {
      const found = placeIn(index, type)
      if (found === null) return null
      const { block, piece } = found
      if (piece === undefined || piece.source === null)
        return { flow: block.flow, offset: at === 0 ? 0 : block.end }
      const offsetAt = memoized(offsets, piece.source, () => offsetsOf(piece.source.state))
      return { flow: block.flow, offset: piece.start + offsetAt(at) }
    },
  }
}

/** Yields the elements in the order of the document, without those that an inline element contains. */
function* nodesIn(element: IndexedElement, depth = 0): Generator<ViewNode> {
  if (depth > limits.typeDepth) return
  const { type, firstBlock, endBlock, children } = element
  if (type !== null) yield { type, firstBlock, endBlock, inline: null }
  if (element.isTextblock) yield* inlineNodesIn(element)
  for (const child of children)
    if (child instanceof IndexedElement && !(element.isTextblock && child.isInline))
      yield* nodesIn(child, depth + 1)
}

function* inlineNodesIn(block: IndexedElement): Generator<ViewNode> {
  const { flow, children } = block
  if (!children.some((child) => child instanceof IndexedElement)) return
  for (const [at, { start, length }] of block.pieces.entries()) {
    const child = children[at]
    if (!(child instanceof IndexedElement && child.isInline)) continue
    const inline = { flow, start, end: start + length }
    yield { type: child.shared, firstBlock: flow, endBlock: flow + 1, inline }
  }
}

/** Returns the block that a shared type is, or that contains it as a piece; null if there is none. */
function placeIn(
  index: ElementIndex,
  type: SharedRoot,
): { readonly block: IndexedElement; readonly piece?: FlowPiece } | null {
  const own = type instanceof Y.XmlText ? null : index.find(type)
  if (own !== null && own.flow >= 0) return { block: own }
  const parent = parentOf(type)
  const block = parent === null ? null : index.find(parent)
  if (block === null || block.flow < 0) return null
  const at = block.children.findIndex((child) => child === type || child === own)
  const piece = block.pieces[at]
  return piece === undefined ? null : { block, piece }
}
