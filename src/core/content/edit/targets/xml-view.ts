import * as Y from 'yjs'
import { memoized } from '../../../base/maps.ts'
import { limits } from '../../../model/limits.ts'
import { Output } from '../../output.ts'
import { readTextState, storedText } from '../../text/text-state.ts'
import { readAttributes } from '../../xmltext/reader.ts'
import { typesIn } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { WorkLimit } from '../work-limit.ts'
import {
  blockAt,
  type FlowPiece,
  type FlowView,
  inlinePlaceholder,
  nodesWith,
  offsetsOf,
  type TextBlock,
  type TextFlow,
  type TextSource,
  type ViewNode,
} from './flow-view.ts'
import { blockNote, hardBreakNames, headingLevel, isPlainTextblock, textblockNames } from './xml-names.ts'

/** An XML root as a list of blocks, each of which is one flow. */
export interface XmlFlowView extends FlowView {
  /** Name of ordinary paragraphs: the usual one, or else the most frequent one; null if there is none. */
  readonly paragraphName: string | null
  /** Names of the elements inside texts. */
  readonly inlineNames: ReadonlySet<string>
}

/** Reads an XML root. The time is linear in the number of items. */
export function readXmlView(root: SharedRoot, work = new WorkLimit()): XmlFlowView {
  const names = new TextElements()
  names.read(root, 0)
  const reader = new XmlViewReader(names, null)
  reader.read(root, 0)
  return reader.view(root, work)
}

type XmlChild = Y.XmlElement | Y.XmlText

/** Returns the live children of an element or a root that are elements or texts. */
const childrenOf = (type: SharedRoot): XmlChild[] =>
  typesIn(type).filter(
    (child): child is XmlChild => child instanceof Y.XmlText || child instanceof Y.XmlElement,
  )

/** The elements that have text inside, and the names of elements whose children are texts. */
class TextElements {
  readonly names = new Set<string>(textblockNames)
  /** Elements without a text inside. Most elements have one. */
  readonly #withoutText = new Set<SharedRoot>()

  /** Reads an element. Returns whether there is a text inside. */
  read(type: SharedRoot, depth: number): boolean {
    let hasText = false
    for (const child of childrenOf(type)) {
      if (child instanceof Y.XmlText) {
        hasText = true
        if (type instanceof Y.XmlElement) this.names.add(type.nodeName)
      } else if (depth >= limits.typeDepth) this.#withoutText.add(child)
      else if (this.read(child, depth + 1)) hasText = true
    }
    if (!hasText) this.#withoutText.add(type)
    return hasText
  }

  /** Returns whether an element belongs to the text around it. */
  isInline = (element: Y.XmlElement): boolean =>
    !this.names.has(element.nodeName) && this.#withoutText.has(element)
}

class XmlViewReader {
  readonly #blocks: XmlBlock[] = []
  /** Null if the nodes are not needed. */
  readonly #nodes: ViewNode[] | null
  readonly #paragraphs = new Map<string, number>()
  readonly #inlineNames = new Set<string>()
  readonly #names: TextElements

  constructor(names: TextElements, nodes: ViewNode[] | null) {
    this.#names = names
    this.#nodes = nodes
  }

  view(root: SharedRoot, work: WorkLimit): XmlFlowView {
    const [names, blocks] = [this.#names, this.#blocks]
    const offsets = new Map<TextSource, (index: number) => number>()
    let places: ReadonlyMap<SharedRoot, XmlPlace> | null = null
    return {
      flows: blocks,
      blocks,
      work,
      blockNear: (flow, offset) => blocks[blockAt({ blocks }, flow, offset)],
      paragraphName: this.#paragraphName(),
      inlineNames: this.#inlineNames,
      attributesOf: ({ type }) => (type === null ? {} : readAttributes(type, new Output())),
      nodesWith: (name) => {
        const nodes: ViewNode[] = []
        new XmlViewReader(names, nodes).read(root, 0)
        return nodesWith(nodes, name)
      },
      locate: (type, index) => {
        places ??= placesIn(blocks)
        const found = places.get(type)
        if (found === undefined) return null
        const { flow, piece } = found
        if (piece === null || piece.source === null)
          return { flow, offset: index === 0 ? 0 : (blocks[flow] as XmlBlock).end }
        const offsetAt = memoized(offsets, piece.source, () => offsetsOf(piece.source.state))
        return { flow, offset: piece.start + offsetAt(index) }
      },
    }
  }

  #paragraphName(): string | null {
    const [first] = [...this.#paragraphs].sort(([, a], [, b]) => b - a)
    return this.#paragraphs.has('paragraph') ? 'paragraph' : (first?.[0] ?? null)
  }

  read(type: SharedRoot, depth: number): void {
    if (depth > limits.typeDepth) return
    const children = childrenOf(type)
    const firstBlock = this.#blocks.length
    const isTextblock = this.#isTextblock(type, children)
    const isLeaf = children.length === 0 && type instanceof Y.XmlElement
    const node = this.#nodes === null ? null : { type, firstBlock, endBlock: firstBlock, inline: null }
    if (node !== null && type instanceof Y.XmlElement) this.#nodes?.push(node)
    if (isTextblock || isLeaf) this.#addBlock(type, children)
    for (const child of children) {
      if (!(child instanceof Y.XmlElement)) continue
      if (!(isTextblock && this.#names.isInline(child))) this.read(child, depth + 1)
    }
    if (node !== null) node.endBlock = this.#blocks.length
  }

  /** Returns whether an element has text of its own, or could have: its name has it elsewhere. */
  #isTextblock(type: SharedRoot, children: readonly XmlChild[]): boolean {
    let [hasTexts, hasLength, isInlineOnly] = [false, false, true]
    for (const child of children) {
      if (child instanceof Y.XmlText) {
        hasTexts = true
        hasLength ||= child._length > 0
      } else isInlineOnly &&= this.#names.isInline(child)
    }
    if (hasTexts) return isInlineOnly || hasLength
    return isInlineOnly && type instanceof Y.XmlElement && this.#names.names.has(type.nodeName)
  }

  #addBlock(type: SharedRoot, children: readonly XmlChild[]): void {
    const index = this.#blocks.length
    const block = new XmlBlock(index, type, children, this.#names)
    this.#blocks.push(block)
    for (const child of children)
      if (child instanceof Y.XmlElement && this.#names.isInline(child)) this.#inlineNames.add(child.nodeName)
    if (this.#nodes !== null) {
      for (const [inlineType, piece] of block.places()) {
        if (piece.source !== null || piece.isKept) continue
        const inline = { flow: index, start: piece.start, end: piece.start + piece.length }
        this.#nodes.push({ type: inlineType, firstBlock: index, endBlock: index + 1, inline })
      }
    }
    const name = type instanceof Y.XmlElement ? type.nodeName : ''
    const isParagraph = isPlainTextblock(name) && name !== blockNote.cellBlock
    if (name !== '' && this.#names.names.has(name) && isParagraph)
      this.#paragraphs.set(name, (this.#paragraphs.get(name) ?? 0) + 1)
  }
}

/** A block and its flow. Its text is read when it is needed, because most edits need the text of few blocks. */
class XmlBlock implements TextFlow, TextBlock {
  readonly flow: number
  readonly start = 0
  /** The element; the root, if the block is text at its top. */
  readonly parent: SharedRoot
  readonly #children: readonly XmlChild[]
  readonly #names: TextElements
  #text: string | null = null
  #pieces: readonly FlowPiece[] | null = null

  constructor(flow: number, parent: SharedRoot, children: readonly XmlChild[], names: TextElements) {
    this.flow = flow
    this.parent = parent
    this.#children = children
    this.#names = names
  }

  get text(): string {
    this.#text ??= this.#children.reduce((text, child) => text + textOf(child), '')
    return this.#text
  }

  get end(): number {
    return this.text.length
  }

  get type(): Y.XmlElement | null {
    return this.parent instanceof Y.XmlElement ? this.parent : null
  }

  get level(): number | null {
    const { type } = this
    return type === null ? null : headingLevel(type)
  }

  get pieces(): readonly FlowPiece[] {
    this.#pieces ??= this.#read()
    return this.#pieces
  }

  /** Yields the shared texts and elements of the block with their pieces. */
  *places(): Generator<readonly [SharedRoot, FlowPiece]> {
    for (const [index, piece] of this.pieces.entries()) yield [this.#children[index] as SharedRoot, piece]
  }

  #read(): FlowPiece[] {
    const pieces: FlowPiece[] = []
    let start = 0
    for (const child of this.#children) {
      const piece = this.#pieceOf(child, start)
      pieces.push(piece)
      start += piece.length
    }
    return pieces
  }

  #pieceOf(child: XmlChild, start: number): FlowPiece {
    if (child instanceof Y.XmlText) {
      const source: TextSource = { type: child, state: readTextState(child) }
      return { start, length: source.state.text.length, source, from: 0 }
    }
    const item = child._item as Y.Item
    return { start, length: 1, source: null, item, isKept: !this.#names.isInline(child) }
  }
}

interface XmlPlace {
  readonly flow: number
  readonly piece: FlowPiece | null
}

function placesIn(blocks: readonly XmlBlock[]): ReadonlyMap<SharedRoot, XmlPlace> {
  const places = new Map<SharedRoot, XmlPlace>()
  for (const block of blocks) {
    for (const [type, piece] of block.places()) places.set(type, { flow: block.flow, piece })
    places.set(block.parent, { flow: block.flow, piece: null })
  }
  return places
}

const textOf = (child: XmlChild): string =>
  child instanceof Y.XmlText ? storedText(child) : inlineText(child)

const inlineText = ({ nodeName }: Y.XmlElement): string =>
  hardBreakNames.has(nodeName) ? '\n' : inlinePlaceholder
