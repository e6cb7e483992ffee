import * as Y from 'yjs'
import { limits } from '../../../model/limits.ts'
import { toJson } from '../../json/json.ts'
import { Output } from '../../output.ts'
import { readTextState } from '../../text/text-state.ts'
import { readAttributes } from '../../xmltext/attributes.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { WorkLimit } from '../work-limit.ts'
import {
  blockAt,
  type FlowPiece,
  type FlowView,
  inlinePlaceholder,
  type NodeWithAttribute,
  offsetsOf,
  type TextBlock,
  type TextFlow,
  type TextSource,
  type ViewNode,
} from './flow-view.ts'
import { hardBreakNames, headingLevel, isPlainTextblock, textblockNames } from './xml-names.ts'

/** An XML root as a list of blocks, each of which is one flow. */
export interface XmlFlowView extends FlowView {
  /** Name of the most frequent ordinary paragraph; null if there is none. */
  readonly paragraphName: string | null
  /** Names of the elements inside texts. */
  readonly inlineNames: ReadonlySet<string>
}

/** Reads an XML root. The time is linear in the number of items. */
export function readXmlView(root: SharedRoot, work = new WorkLimit()): XmlFlowView {
  const names = new TextElements()
  names.read(root, 0)
  const reader = new XmlViewReader(names)
  reader.read(root, 0)
  return reader.view(work)
}

/** Returns the live children of an element or a root that are elements or texts. */
function childrenOf(type: SharedRoot): (Y.XmlElement | Y.XmlText)[] {
  const children: (Y.XmlElement | Y.XmlText)[] = []
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentType)) continue
    const child: unknown = item.content.type
    if (child instanceof Y.XmlElement || child instanceof Y.XmlText) children.push(child)
  }
  return children
}

/** The elements that have text inside, and the names of elements whose children are texts. */
class TextElements {
  readonly names = new Set<string>(textblockNames)
  readonly #withText = new Set<SharedRoot>()

  /** Reads an element. Returns whether there is a text inside. */
  read(type: SharedRoot, depth: number): boolean {
    let hasText = false
    for (const child of childrenOf(type)) {
      if (child instanceof Y.XmlText) {
        hasText = true
        if (type instanceof Y.XmlElement) this.names.add(type.nodeName)
      } else if (depth < limits.typeDepth && this.read(child, depth + 1)) hasText = true
    }
    if (hasText) this.#withText.add(type)
    return hasText
  }

  /** Returns whether an element belongs to the text around it. */
  isInline = (element: Y.XmlElement): boolean =>
    !(this.#withText.has(element) || this.names.has(element.nodeName))
}

class XmlViewReader {
  readonly #flows: TextFlow[] = []
  readonly #blocks: TextBlock[] = []
  readonly #nodes: ViewNode[] = []
  readonly #places = new Map<SharedRoot, { readonly flow: number; readonly piece: FlowPiece | null }>()
  readonly #paragraphs = new Map<string, number>()
  readonly #inlineNames = new Set<string>()
  readonly #names: TextElements

  constructor(names: TextElements) {
    this.#names = names
  }

  view(work: WorkLimit): XmlFlowView {
    const [nodes, places, flows] = [this.#nodes, this.#places, this.#flows]
    const [paragraph] = [...this.#paragraphs].sort(([, a], [, b]) => b - a)
    const offsets = new Map<TextSource, (index: number) => number>()
    const blocks = this.#blocks
    return {
      flows,
      blocks,
      work,
      blockNear: (flow, offset) => blocks[blockAt({ blocks }, flow, offset)],
      paragraphName: paragraph?.[0] ?? null,
      inlineNames: this.#inlineNames,
      attributesOf: ({ type }) => (type === null ? {} : readAttributes(type, new Output())),
      nodesWith: (name) => nodesWith(nodes, name),
      locate: (type, index) => {
        const found = places.get(type)
        if (found === undefined) return null
        const { flow, piece } = found
        if (piece === null || piece.source === null)
          return { flow, offset: index === 0 ? 0 : (flows[flow] as TextFlow).text.length }
        const offsetAt = offsets.get(piece.source) ?? offsetsOf(piece.source.state)
        offsets.set(piece.source, offsetAt)
        return { flow, offset: piece.start + offsetAt(index) }
      },
    }
  }

  read(type: SharedRoot, depth: number): void {
    if (depth > limits.typeDepth) return
    const children = childrenOf(type)
    const firstBlock = this.#blocks.length
    const isTextblock = this.#isTextblock(type, children)
    const isLeaf = children.length === 0 && type instanceof Y.XmlElement
    const node = { type, firstBlock, endBlock: firstBlock, inline: null }
    if (type instanceof Y.XmlElement) this.#nodes.push(node)
    if (isTextblock || isLeaf) this.#addBlock(type, children)
    for (const child of children) {
      if (!(child instanceof Y.XmlElement)) continue
      if (!(isTextblock && this.#names.isInline(child))) this.read(child, depth + 1)
    }
    node.endBlock = this.#blocks.length
  }

  /** Returns whether an element has text of its own, or could have: its name has it elsewhere. */
  #isTextblock(type: SharedRoot, children: readonly (Y.XmlElement | Y.XmlText)[]): boolean {
    const elements = children.filter((child) => child instanceof Y.XmlElement)
    const isInlineOnly = elements.every(this.#names.isInline)
    if (elements.length < children.length) {
      return isInlineOnly || children.some((child) => child instanceof Y.XmlText && child._length > 0)
    }
    return isInlineOnly && type instanceof Y.XmlElement && this.#names.names.has(type.nodeName)
  }

  #addBlock(type: SharedRoot, children: readonly (Y.XmlElement | Y.XmlText)[]): void {
    const flow = this.#flows.length
    const pieces: FlowPiece[] = []
    const parts: string[] = []
    let start = 0
    for (const child of children) {
      const piece = this.#pieceOf(child, start)
      if (piece === null) continue
      pieces.push(piece)
      parts.push(piece.source === null ? inlineText(child) : piece.source.state.text)
      start += piece.length
      this.#places.set(child, { flow, piece })
      if (piece.source === null && !piece.isKept && child instanceof Y.XmlElement) {
        this.#inlineNames.add(child.nodeName)
        const inline = { flow, start: piece.start, end: start }
        this.#nodes.push({ type: child, firstBlock: flow, endBlock: flow + 1, inline })
      }
    }
    const text = parts.join('')
    this.#flows.push({ text, pieces })
    const name = type instanceof Y.XmlElement ? type.nodeName : ''
    const level = type instanceof Y.XmlElement ? headingLevel(name, type.getAttribute('level')) : null
    const own = type instanceof Y.XmlElement ? type : null
    this.#blocks.push({ flow, start: 0, end: text.length, level, type: own })
    this.#places.set(type, { flow, piece: null })
    if (name !== '' && this.#names.names.has(name) && isPlainTextblock(name))
      this.#paragraphs.set(name, (this.#paragraphs.get(name) ?? 0) + 1)
  }

  #pieceOf(child: Y.XmlElement | Y.XmlText, start: number): FlowPiece | null {
    if (child instanceof Y.XmlText) {
      const source: TextSource = { type: child, state: readTextState(child) }
      return { start, length: source.state.text.length, source, from: 0 }
    }
    const { _item: item } = child
    const isKept = !this.#names.isInline(child)
    return item === null ? null : { start, length: 1, source: null, item, isKept }
  }
}

const inlineText = (child: Y.XmlElement | Y.XmlText): string =>
  child instanceof Y.XmlElement && hardBreakNames.has(child.nodeName) ? '\n' : inlinePlaceholder

function* nodesWith(nodes: readonly ViewNode[], name: string): Generator<NodeWithAttribute> {
  for (const node of nodes) {
    const item = node.type._map.get(name)
    if (item === undefined || item.deleted) continue
    const value = toJson(item.content.getContent()[item.length - 1])
    if (value !== undefined && value !== null) yield { node, block: node.firstBlock, value }
  }
}
