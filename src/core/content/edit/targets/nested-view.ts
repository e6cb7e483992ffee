import * as Y from 'yjs'
import { firstIndex } from '../../../base/search.ts'
import { limits } from '../../../model/limits.ts'
import { type Json, toJson } from '../../json/json.ts'
import { Output } from '../../output.ts'
import { entryIn, readStoredValue } from '../../stored/shared-values.ts'
import { markUnpaired, type PlainTextState, readTextState } from '../../text/text-state.ts'
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
  type TextBlock,
  type TextFlow,
  type ViewNode,
} from './flow-view.ts'
import { isInlineType, isPlainNode, isWrapper, lexicalType, nestedLevel, typeOfNode } from './nested-names.ts'

/** A root of Lexical or Slate as a list of blocks, each of which is one flow. */
export interface NestedFlowView extends FlowView {
  readonly isLexical: boolean
  /**
   * Type of the most frequent ordinary paragraph; null if the paragraphs have no type, undefined if there are no
   * paragraphs.
   */
  readonly paragraphType: Json | undefined
}

/**
 * Reads a root of nested texts. The time is linear in the number of items.
 * @param contentKey name of the root; it indicates the kind of editor if the root is empty
 */
export function readNestedView(root: SharedRoot, contentKey = '', work = new WorkLimit()): NestedFlowView {
  const reader = new NestedViewReader(usesLexical(root, contentKey), null)
  reader.read(root, 0)
  return reader.view(root, work)
}

/** Name of the root in documents of Lexical. */
const lexicalKey = 'root'

function usesLexical(root: SharedRoot, contentKey: string): boolean {
  const [first] = typesIn(root)
  return first === undefined ? contentKey === lexicalKey : entryIn(first, lexicalType) !== undefined
}

/** Returns the attributes of a nested text or element. */
export const nestedAttributes = (type: SharedRoot): Readonly<Record<string, Json>> =>
  readAttributes(type, new Output())

/** Returns the nested texts and elements of a type. */
const nestedIn = (type: SharedRoot): SharedRoot[] =>
  typesIn(type).filter((child) => child instanceof Y.XmlText || child instanceof Y.XmlElement)

/** Returns the attributes that determine the type of a nested text or element. */
function namesOf(type: SharedRoot): Readonly<Record<string, Json>> {
  const names: Record<string, Json> = {}
  for (const name of nameAttributes) {
    const json = readStoredValue(entryIn(type, name))?.json
    if (json !== undefined) names[name] = json
  }
  return names
}

const nameAttributes = [lexicalType, 'type', '__tag', 'level'] as const

class NestedViewReader {
  readonly #blocks: NestedBlock[] = []
  /** Null if the nodes are not needed. */
  readonly #nodes: ViewNode[] | null
  readonly #paragraphs = new Map<Json, number>()
  readonly #isLexical: boolean

  constructor(isLexical: boolean, nodes: ViewNode[] | null) {
    this.#isLexical = isLexical
    this.#nodes = nodes
  }

  view(root: SharedRoot, work: WorkLimit): NestedFlowView {
    const [isLexical, blocks] = [this.#isLexical, this.#blocks]
    const [paragraph] = [...this.#paragraphs].sort(([, a], [, b]) => b - a)
    let places: ReadonlyMap<SharedRoot, NestedPlace> | null = null
    return {
      isLexical,
      paragraphType: paragraph?.[0],
      flows: blocks,
      blocks,
      work,
      blockNear: (flow, offset) => blocks[blockAt({ blocks }, flow, offset)],
      attributesOf: ({ type }) => (type === null ? {} : nestedAttributes(type)),
      nodesWith: (name) => {
        const nodes: ViewNode[] = []
        new NestedViewReader(isLexical, nodes).read(root, 0)
        return nodesWith(nodes, name)
      },
      locate: (type, index) => {
        places ??= new Map(blocks.flatMap((block) => [...block.content.places]))
        const found = places.get(type)
        return found === undefined ? null : { flow: found.flow, offset: offsetIn(found.pieces, index) }
      },
    }
  }

  read(type: SharedRoot, depth: number): void {
    if (depth > limits.typeDepth) return
    const isRoot = depth === 0
    const node = { type, firstBlock: this.#blocks.length, endBlock: 0, inline: null }
    if (!isRoot) this.#nodes?.push(node)
    if (isTextblock(type, isRoot)) this.#addBlock(type, depth)
    else for (const child of nestedIn(type)) this.read(child, depth + 1)
    node.endBlock = this.#blocks.length
  }

  #addBlock(type: SharedRoot, depth: number): void {
    const block = new NestedBlock(this.#blocks.length, type, depth, this.#isLexical)
    this.#blocks.push(block)
    for (const node of this.#nodes === null ? [] : block.content.nodes) this.#nodes?.push(node)
    if (depth === 0 || !(type instanceof Y.XmlText)) return
    const names = namesOf(type)
    if (!isPlainNode(names)) return
    const name = typeOfNode(names)
    this.#paragraphs.set(name, (this.#paragraphs.get(name) ?? 0) + 1)
  }
}

interface NestedPlace {
  readonly flow: number
  readonly pieces: readonly FlowPiece[]
}

/** A block and its flow. Its content is read when it is needed, because most edits need that of few blocks. */
class NestedBlock implements TextFlow, TextBlock {
  readonly flow: number
  readonly start = 0
  readonly #parent: SharedRoot
  readonly #depth: number
  readonly #isLexical: boolean
  readonly type: SharedRoot | null
  #text: string | null = null
  #content: NestedContent | null = null

  constructor(flow: number, parent: SharedRoot, depth: number, isLexical: boolean) {
    this.flow = flow
    this.type = depth === 0 ? null : parent
    this.#parent = parent
    this.#depth = depth
    this.#isLexical = isLexical
  }

  get text(): string {
    this.#text ??= textIn(this.#parent, this.#depth)
    return this.#text
  }

  get end(): number {
    return this.text.length
  }

  get level(): number | null {
    return nestedLevel(namesOf(this.#parent))
  }

  get pieces(): readonly FlowPiece[] {
    return this.content.pieces
  }

  get content(): NestedContent {
    this.#content ??= new NestedContent(this.flow, this.#isLexical).read(this.#parent, this.#depth)
    return this.#content
  }
}

/** The shared text that is read. */
interface OpenText {
  readonly type: SharedRoot
  readonly state: PlainTextState
  /** Offset in its string. */
  offset: number
  /** Index in the shared text. */
  index: number
  /** In Lexical: the map before the next text. */
  textNode: Y.Item | null
}

/** The content of one block. */
class NestedContent {
  readonly pieces: FlowPiece[] = []
  /** The inline nodes of the block. */
  readonly nodes: ViewNode[] = []
  /** The shared texts of the block. */
  readonly places = new Map<SharedRoot, NestedPlace>()
  readonly #flow: number
  readonly #isLexical: boolean
  #length = 0

  constructor(flow: number, isLexical: boolean) {
    this.#flow = flow
    this.#isLexical = isLexical
  }

  read(type: SharedRoot, depth: number): this {
    const open = this.#addText(type, depth)
    // A block ends with text, so that text can be inserted there.
    if (type instanceof Y.XmlText && !this.pieces.at(-1)?.source) this.#addPiece(open, 0, null)
    this.#addPlace(type, 0)
    return this
  }

  #addText(type: SharedRoot, depth: number): OpenText {
    const open: OpenText = { type, state: readTextState(type), offset: 0, index: 0, textNode: null }
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      const { content } = item
      const nested = content instanceof Y.ContentType ? content.type : null
      if (content instanceof Y.ContentString) this.#addCharacters(open, content.str.length)
      else if (nested instanceof Y.Map) this.#addMap(open, item, nested)
      else if (isInnerText(nested, depth)) this.#addInnerText(nested, depth + 1)
      else {
        const start = this.#length
        if (!isInvisible(nested)) this.#addAtom(open, item)
        if (nested !== null) this.nodes.push(this.#nodeOf(nested, start))
      }
      open.index += item.length
    }
    return open
  }

  #addInnerText(type: SharedRoot, depth: number): void {
    const [start, firstNode, firstPiece] = [this.#length, this.nodes.length, this.pieces.length]
    this.#addText(type, depth)
    this.#addPlace(type, firstPiece)
    this.nodes.splice(firstNode, 0, this.#nodeOf(type, start))
  }

  #addCharacters(open: OpenText, length: number): void {
    const last = this.pieces.at(-1)
    if (last !== undefined && last.source?.type === open.type && endOf(last) === open.index)
      this.pieces[this.pieces.length - 1] = { ...last, length: last.length + length }
    else this.#addPiece(open, length, open.textNode)
    this.#length += length
    open.offset += length
  }

  /** Adds a map. In Lexical, it is a line break, or the node of the text after it. */
  #addMap(open: OpenText, item: Y.Item, map: SharedRoot): void {
    if (characterOf(map) !== null) this.#addAtom(open, item)
    else open.textNode = item
  }

  #addAtom(open: OpenText, item: Y.Item): void {
    if (this.#isLexical && this.pieces.at(-1)?.source === null) this.#addPiece(open, 0, null)
    this.pieces.push({ start: this.#length, length: 1, source: null, item, isKept: false })
    this.#length += 1
    open.textNode = null
  }

  #addPiece({ type, state, offset, index }: OpenText, length: number, textNode: Y.Item | null): void {
    this.pieces.push({ start: this.#length, length, source: { type, state }, from: offset, index, textNode })
  }

  #addPlace(type: SharedRoot, firstPiece: number): void {
    const pieces = this.pieces.slice(firstPiece).filter(({ source }) => source?.type === type)
    this.places.set(type, { flow: this.#flow, pieces })
  }

  #nodeOf(type: SharedRoot, start: number): ViewNode {
    const flow = this.#flow
    return { type, firstBlock: flow, endBlock: flow + 1, inline: { flow, start, end: this.#length } }
  }
}

/** Returns whether the text of a nested value is a part of the text around it. */
const isInnerText = (nested: SharedRoot | null, depth: number): nested is Y.XmlText =>
  nested instanceof Y.XmlText && nested._length > 0 && depth < limits.typeDepth

/** Returns whether a nested value is a link or the like without text. */
const isInvisible = (nested: SharedRoot | null): boolean =>
  nested instanceof Y.XmlText && nested._length === 0 && isWrapper(namesOf(nested))

/** Returns the text of a block, as `NestedContent` has it. */
function textIn(type: SharedRoot, depth: number): string {
  let text = ''
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    const { content } = item
    const nested = content instanceof Y.ContentType ? content.type : null
    if (content instanceof Y.ContentString) text += markUnpaired(content.str)
    else if (nested instanceof Y.Map) text += characterOf(nested) ?? ''
    else if (isInnerText(nested, depth)) text += textIn(nested, depth + 1)
    else if (!isInvisible(nested)) text += inlinePlaceholder
  }
  return text
}

/** Returns the character that stands for a map; null for a map that is the node of the text after it. */
function characterOf(map: SharedRoot): string | null {
  const type = toJson(map._map.get(lexicalType)?.content.getContent()[0])
  if (type === 'linebreak') return '\n'
  return type === undefined ? inlinePlaceholder : null
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

/** Returns the index in the shared text at which a piece ends; null if the piece is not text. */
const endOf = (piece: FlowPiece): number | null =>
  piece.source === null ? null : (piece.index ?? 0) + piece.length

/** Returns the offset in the flow for an index of a shared text that has these pieces. */
function offsetIn(pieces: readonly FlowPiece[], index: number): number {
  const piece = pieces[firstIndex(pieces.length, (at) => indexOf(pieces[at] as FlowPiece) > index) - 1]
  if (piece === undefined) return pieces[0]?.start ?? 0
  return piece.start + Math.min(piece.length, index - indexOf(piece))
}

/** Returns the index in the shared text at which a piece of text starts. */
const indexOf = (piece: FlowPiece): number => (piece.source === null ? 0 : (piece.index ?? 0))
