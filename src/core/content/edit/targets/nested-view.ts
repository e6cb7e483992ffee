import * as Y from 'yjs'
import { firstIndex } from '../../../base/search.ts'
import { limits } from '../../../model/limits.ts'
import { type Json, toJson } from '../../json/json.ts'
import { Output } from '../../output.ts'
import { entryIn, readStoredValue } from '../../stored/shared-values.ts'
import { markUnpaired, readTextState } from '../../text/text-state.ts'
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
  reader.read(root, 0, true)
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
        new NestedViewReader(isLexical, nodes).read(root, 0, true)
        return nodesWith(nodes, name)
      },
      locate: (type, index) => {
        places ??= new Map(blocks.flatMap((block) => [...block.content.places]))
        const found = places.get(type)
        return found === undefined ? null : { flow: found.flow, offset: offsetIn(found.pieces, index) }
      },
    }
  }

  read(type: SharedRoot, depth: number, isRoot: boolean): void {
    if (depth > limits.typeDepth) return
    const node = this.#nodes === null ? null : newNode(type, this.#blocks.length)
    if (!isRoot && node !== null) this.#nodes?.push(node)
    if (isTextblock(type, isRoot)) this.#addBlock(type, isRoot, depth)
    else for (const child of nestedIn(type)) this.read(child, depth + 1, false)
    if (node !== null) node.endBlock = this.#blocks.length
  }

  #addBlock(type: SharedRoot, isRoot: boolean, depth: number): void {
    const block = new NestedBlock(this.#blocks.length, type, depth, { isRoot, isLexical: this.#isLexical })
    this.#blocks.push(block)
    for (const node of this.#nodes === null ? [] : block.content.nodes) this.#nodes?.push(node)
    if (isRoot || !(type instanceof Y.XmlText)) return
    const names = namesOf(type)
    if (!isPlainNode(names)) return
    const name = typeOfNode(names)
    this.#paragraphs.set(name, (this.#paragraphs.get(name) ?? 0) + 1)
  }
}

const newNode = (type: SharedRoot, firstBlock: number): ViewNode & { endBlock: number } => ({
  type,
  firstBlock,
  endBlock: 0,
  inline: null,
})

interface NestedPlace {
  readonly flow: number
  readonly pieces: readonly FlowPiece[]
}

/** The content of a block. */
interface NestedContent {
  readonly pieces: readonly FlowPiece[]
  /** The inline nodes of the block. */
  readonly nodes: readonly ViewNode[]
  /** The shared texts of the block. */
  readonly places: ReadonlyMap<SharedRoot, NestedPlace>
}

/** A block and its flow. Its content is read when it is needed, because most edits need that of few blocks. */
class NestedBlock implements TextFlow, TextBlock {
  readonly flow: number
  readonly start = 0
  readonly #parent: SharedRoot
  readonly #depth: number
  readonly #options: { readonly isRoot: boolean; readonly isLexical: boolean }
  #text: string | null = null
  #content: NestedContent | null = null

  constructor(
    flow: number,
    parent: SharedRoot,
    depth: number,
    options: { readonly isRoot: boolean; readonly isLexical: boolean },
  ) {
    this.flow = flow
    this.#parent = parent
    this.#depth = depth
    this.#options = options
  }

  get text(): string {
    this.#text ??= textIn(this.#parent, this.#depth)
    return this.#text
  }

  get end(): number {
    return this.text.length
  }

  get type(): SharedRoot | null {
    return this.#options.isRoot ? null : this.#parent
  }

  get level(): number | null {
    return nestedLevel(namesOf(this.#parent))
  }

  get pieces(): readonly FlowPiece[] {
    return this.content.pieces
  }

  get content(): NestedContent {
    this.#content ??= new NestedContentReader(this.flow, this.#options.isLexical).read(
      this.#parent,
      this.#depth,
    )
    return this.#content
  }
}

class NestedContentReader {
  readonly #flow: number
  readonly #writer: FlowPieceWriter
  readonly #nodes: ViewNode[] = []
  readonly #places = new Map<SharedRoot, NestedPlace>()

  constructor(flow: number, isLexical: boolean) {
    this.#flow = flow
    this.#writer = new FlowPieceWriter(isLexical)
  }

  read(type: SharedRoot, depth: number): NestedContent {
    this.#addPieces(type, depth)
    this.#writer.end(type)
    const { pieces } = this.#writer
    const own = pieces.filter(({ source }) => source?.type === type)
    this.#places.set(type, { flow: this.#flow, pieces: own })
    return { pieces, nodes: this.#nodes, places: this.#places }
  }

  #addPieces(type: SharedRoot, depth: number): void {
    const [flow, writer] = [this.#flow, this.#writer]
    writer.enter(type)
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      const { content } = item
      const nested = content instanceof Y.ContentType ? content.type : null
      if (content instanceof Y.ContentString) writer.text(content.str.length)
      else if (nested instanceof Y.Map) writer.map(item, nested)
      else if (isInnerText(nested, depth)) {
        const start = writer.length
        const place = this.#nodes.length
        const first = writer.pieces.length
        writer.pass(item)
        this.#addPieces(nested, depth + 1)
        const pieces = writer.pieces.slice(first).filter(({ source }) => source?.type === nested)
        this.#places.set(nested, { flow, pieces })
        const inline = { flow, start, end: writer.length }
        this.#nodes.splice(place, 0, { type: nested, firstBlock: flow, endBlock: flow + 1, inline })
        writer.leave()
      } else {
        const inline = isInvisible(nested) ? writer.invisible(item) : writer.atom(item)
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

/** Returns whether the text of a nested value is a part of the text around it. */
const isInnerText = (nested: SharedRoot | null, depth: number): nested is Y.XmlText =>
  nested instanceof Y.XmlText && nested._length > 0 && depth < limits.typeDepth

/** Returns whether a nested value is a link or the like without text. */
const isInvisible = (nested: SharedRoot | null): boolean =>
  nested instanceof Y.XmlText && nested._length === 0 && isWrapper(namesOf(nested))

/** Returns the text of a block, as `NestedContentReader` does. */
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
    if (last !== undefined && last.source?.type === source.type && endOf(last) === source.index) {
      this.pieces[this.pieces.length - 1] = { ...last, length: last.length + length }
    } else this.#add(length, textNode)
    this.#length += length
    source.offset += length
    source.index += length
  }

  /** Adds a map. In Lexical, it is a line break, or the node of the text after it. */
  map(item: Y.Item, map: SharedRoot): void {
    if (characterOf(map) !== null) this.atom(item)
    else {
      this.#current.textNode = item
      this.pass(item)
    }
  }

  atom(item: Y.Item): { start: number; end: number } {
    if (this.#isLexical && this.pieces.at(-1)?.source === null) this.#add(0, null)
    const start = this.#length
    this.pieces.push({ start, length: 1, source: null, item, isKept: false })
    this.#length += 1
    this.#current.textNode = null
    this.pass(item)
    return { start, end: start + 1 }
  }

  /** Passes over an element that is not visible, because it is empty. Returns its range. */
  invisible(item: Y.Item): { start: number; end: number } {
    this.pass(item)
    return { start: this.#length, end: this.#length }
  }

  /** Passes over an item that has no character in the flow. */
  pass({ length }: Y.Item): void {
    this.#current.source.index += length
  }

  /** Completes the block, so that text can be inserted at its end. */
  end(type: SharedRoot): void {
    const last = this.pieces.at(-1)
    if (type instanceof Y.XmlText && (last === undefined || last.source === null)) this.#add(0, null)
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
  const piece = pieces[firstIndex(pieces.length, (at) => indexOf(pieces[at] as FlowPiece) > index) - 1]
  if (piece === undefined) return pieces[0]?.start ?? 0
  return piece.start + Math.min(piece.length, index - indexOf(piece))
}

/** Returns the index in the shared text at which a piece of text starts. */
const indexOf = (piece: FlowPiece): number => (piece.source === null ? 0 : (piece.index ?? 0))
