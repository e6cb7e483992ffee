import * as Y from 'yjs'
import { limits } from '../../../model/limits.ts'
import type { Json } from '../../json/json.ts'
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
  type TextBlock,
  type TextFlow,
  type ViewNode,
} from './flow-view.ts'
import { isInlineType, isPlainNode, lexicalType, nestedLevel, typeOfNode } from './nested-names.ts'

/** A root of Lexical or Slate as a list of blocks, each of which is one flow. */
export interface NestedFlowView extends FlowView {
  readonly isLexical: boolean
  /** Type of the most frequent ordinary paragraph; null if the paragraphs have no type. */
  readonly paragraphType: Json
}

/** Reads a root of nested texts. The time is linear in the number of items. */
export function readNestedView(root: SharedRoot, work = new WorkLimit()): NestedFlowView {
  const reader = new NestedViewReader(usesLexical(root))
  reader.read(root, 0, true)
  return reader.view(work)
}

function usesLexical(root: SharedRoot): boolean {
  for (let item = root._start; item !== null; item = item.right) {
    if (!item.deleted && item.content instanceof Y.ContentType)
      return item.content.type._map.get(lexicalType)?.deleted === false
  }
  return false
}

/** Returns the attributes of a nested text or element. */
export const nestedAttributes = (type: SharedRoot): Readonly<Record<string, Json>> =>
  readAttributes(type, new Output())

/** Returns the nested texts and elements of a type. */
function nestedIn(type: SharedRoot): SharedRoot[] {
  const found: SharedRoot[] = []
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentType)) continue
    const { type: child } = item.content
    if (child instanceof Y.XmlText || child instanceof Y.XmlElement) found.push(child)
  }
  return found
}

class NestedViewReader {
  readonly #flows: TextFlow[] = []
  readonly #blocks: TextBlock[] = []
  readonly #nodes: ViewNode[] = []
  readonly #places = new Map<SharedRoot, { readonly flow: number; readonly pieces: FlowPiece[] }>()
  readonly #paragraphs = new Map<Json, number>()
  readonly #isLexical: boolean

  constructor(isLexical: boolean) {
    this.#isLexical = isLexical
  }

  view(work: WorkLimit): NestedFlowView {
    const [nodes, places, blocks] = [this.#nodes, this.#places, this.#blocks]
    const [paragraph] = [...this.#paragraphs].sort(([, a], [, b]) => b - a)
    return {
      isLexical: this.#isLexical,
      paragraphType: paragraph?.[0] ?? null,
      flows: this.#flows,
      blocks,
      work,
      blockNear: (flow, offset) => blocks[blockAt({ blocks }, flow, offset)],
      attributesOf: ({ type }) => (type === null ? {} : nestedAttributes(type)),
      nodesWith: (name) => nodesWith(nodes, name),
      locate: (type, index) => {
        const found = places.get(type)
        return found === undefined ? null : { flow: found.flow, offset: offsetIn(found.pieces, index) }
      },
    }
  }

  read(type: SharedRoot, depth: number, isRoot: boolean): void {
    if (depth > limits.typeDepth) return
    const node = { type, firstBlock: this.#blocks.length, endBlock: 0, inline: null }
    if (!isRoot) this.#nodes.push(node)
    if (isTextblock(type, isRoot)) this.#addBlock(type, isRoot, depth)
    else for (const child of nestedIn(type)) this.read(child, depth + 1, false)
    node.endBlock = this.#blocks.length
  }

  #addBlock(type: SharedRoot, isRoot: boolean, depth: number): void {
    const flow = this.#flows.length
    const writer = new FlowPieceWriter(this.#isLexical)
    this.#addPieces(writer, type, flow, depth)
    const text = writer.end(type)
    this.#flows.push({ text, pieces: writer.pieces })
    const attributes = nestedAttributes(type)
    const own = isRoot ? null : type
    this.#blocks.push({ flow, start: 0, end: text.length, level: nestedLevel(attributes), type: own })
    this.#places.set(type, { flow, pieces: writer.pieces.filter(({ source }) => source?.type === type) })
    const isText = type instanceof Y.XmlText && isPlainNode(attributes)
    const name = typeOfNode(attributes)
    if (isText && !isRoot) this.#paragraphs.set(name, (this.#paragraphs.get(name) ?? 0) + 1)
  }

  #addPieces(writer: FlowPieceWriter, type: SharedRoot, flow: number, depth: number): void {
    writer.enter(type)
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      const { content } = item
      const nested = content instanceof Y.ContentType ? content.type : null
      if (content instanceof Y.ContentString) writer.text(content.str.length)
      else if (nested instanceof Y.Map) writer.map(item, nested)
      else if (nested instanceof Y.XmlText && nested._length > 0 && depth < limits.typeDepth) {
        const start = writer.length
        const place = this.#nodes.length
        const first = writer.pieces.length
        writer.pass(item)
        this.#addPieces(writer, nested, flow, depth + 1)
        const pieces = writer.pieces.slice(first).filter(({ source }) => source?.type === nested)
        this.#places.set(nested, { flow, pieces })
        const inline = { flow, start, end: writer.length }
        this.#nodes.splice(place, 0, { type: nested, firstBlock: flow, endBlock: flow + 1, inline })
        writer.leave()
      } else {
        const inline = writer.atom(item, inlinePlaceholder)
        if (nested !== null)
          this.#nodes.push({
            type: nested,
            firstBlock: flow,
            endBlock: flow + 1,
            inline: { flow, ...inline },
          })
      }
    }
  }
}

/**
 * Returns whether a text has text of its own, or could have. A text without text of its own that contains
 * other texts is a list, a table or the like, unless all of these are links.
 */
function isTextblock(type: SharedRoot, isRoot: boolean): boolean {
  let isEmpty = true
  let hasBlocks = false
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    const { content } = item
    if (content instanceof Y.ContentString || content instanceof Y.ContentEmbed) return true
    if (!(content instanceof Y.ContentType)) continue
    isEmpty = false
    if (content.type instanceof Y.Map) return true
    hasBlocks ||= !isInlineType(nestedAttributes(content.type))
  }
  return isEmpty ? !isRoot : !hasBlocks && !isRoot
}

interface Nested {
  readonly type: SharedRoot
  readonly state: ReturnType<typeof readTextState>
  offset: number
  index: number
}

/** Collects the pieces of one block. */
class FlowPieceWriter {
  readonly pieces: FlowPiece[] = []
  readonly #isLexical: boolean
  readonly #open: { source: Nested; textNode: Y.Item | null }[] = []
  #parts: string[] = []
  #length = 0

  constructor(isLexical: boolean) {
    this.#isLexical = isLexical
  }

  /** Number of characters so far. */
  get length(): number {
    return this.#length
  }

  enter(type: SharedRoot): void {
    const source = { type, state: readTextState(type), offset: 0, index: 0 }
    this.#open.push({ source, textNode: null })
  }

  leave(): void {
    this.#open.pop()
  }

  text(length: number): void {
    const { source, textNode } = this.#current
    const last = this.pieces.at(-1)
    const text = source.state.text.slice(source.offset, source.offset + length)
    if (last !== undefined && last.source?.type === source.type && endOf(last) === source.index) {
      this.pieces[this.pieces.length - 1] = { ...last, length: last.length + length }
    } else this.#add(length, textNode)
    this.#parts.push(text)
    this.#length += length
    source.offset += length
    source.index += length
  }

  /** Adds a map. In Lexical, it is a line break, or the node of the text after it. */
  map(item: Y.Item, map: SharedRoot): void {
    const type = toJson(map._map.get(lexicalType)?.content.getContent()[0])
    if (type === 'linebreak') this.atom(item, '\n')
    else if (type === undefined) this.atom(item, inlinePlaceholder)
    else {
      this.#current.textNode = item
      this.pass(item)
    }
  }

  atom(item: Y.Item, text: string): { start: number; end: number } {
    if (this.#isLexical && this.pieces.at(-1)?.source === null) this.#add(0, null)
    const start = this.#length
    this.pieces.push({ start, length: 1, source: null, item, isKept: false })
    this.#parts.push(text)
    this.#length += 1
    this.#current.textNode = null
    this.pass(item)
    return { start, end: start + 1 }
  }

  /** Passes over an item that has no character in the flow. */
  pass({ length }: Y.Item): void {
    this.#current.source.index += length
  }

  /** Completes the block, so that text can be inserted at its end. Returns its text. */
  end(type: SharedRoot): string {
    const last = this.pieces.at(-1)
    if (type instanceof Y.XmlText && (last === undefined || last.source === null)) this.#add(0, null)
    return this.#parts.join('')
  }

  #add(length: number, textNode: Y.Item | null): void {
    const { source } = this.#current
    const { type, state, offset, index } = source
    this.pieces.push({ start: this.#length, length, source: { type, state }, from: offset, index, textNode })
  }

  get #current(): { source: Nested; textNode: Y.Item | null } {
    return this.#open.at(-1) as { source: Nested; textNode: Y.Item | null }
  }
}

/** Returns the index in the shared text at which a piece ends; null if the piece is not text. */
const endOf = (piece: FlowPiece): number | null =>
  piece.source === null ? null : (piece.index ?? 0) + piece.length

/** Returns the offset in the flow for an index of a shared text that has these pieces. */
function offsetIn(pieces: readonly FlowPiece[], index: number): number {
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (indexOf(pieces[middle] as FlowPiece) <= index) low = middle + 1
    else high = middle
  }
  const piece = pieces[low - 1]
  if (piece === undefined) return pieces[0]?.start ?? 0
  return piece.start + Math.min(piece.length, index - indexOf(piece))
}

/** Returns the index in the shared text at which a piece of text starts. */
const indexOf = (piece: FlowPiece): number => (piece.source === null ? 0 : (piece.index ?? 0))

function* nodesWith(nodes: readonly ViewNode[], name: string): Generator<NodeWithAttribute> {
  for (const node of nodes) {
    const item = node.type._map.get(name)
    if (item === undefined || item.deleted) continue
    const value = toJson(item.content.getContent()[item.length - 1])
    if (value !== undefined && value !== null) yield { node, block: node.firstBlock, value }
  }
}
