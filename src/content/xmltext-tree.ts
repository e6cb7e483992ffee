import * as Y from 'yjs'
import { limits } from '../model/limits.ts'
import { type Formats, tooManyAttributes } from './delta-state.ts'
import { forbiddenKey, isObject, type Json, type JsonObject, jsonOf } from './json.ts'
import { asRoot, type Root } from './kind.ts'
import { readMap, readStored } from './shared-values.ts'
import type { ValueNumbers } from './value-numbers.ts'
import { type NodeNumbers, sizeOf } from './xml-hash.ts'
import type { XmlElement, XmlNode, XmlRun, XmlText } from './xml-tree.ts'
import type { SharedElement, SharedNode, SharedText, TextPiece } from './xmltext-data.ts'

/**
 * Shared texts as trees that can be aligned like XML: stretches of text are texts, whose runs name attribute sets, and
 * what is embedded are elements that are called by their kind.
 */
export type TextNode = XmlText

export interface ChildNode extends XmlElement {
  readonly kind: 'element'
  readonly shared: SharedNode
  /** Number of its formatting; 0 where it has none. */
  readonly format: number
  /** The shared type, in a document. */
  readonly type: Root | null
  readonly children: readonly StreamNode[]
  /** Positions of what is not shown, by the number of children before it. */
  readonly hidden: ReadonlyMap<number, number>
}

const noneHidden: ReadonlyMap<number, number> = new Map()

export type StreamNode = TextNode | ChildNode

export const isChild = (node: XmlNode): node is ChildNode => node.kind === 'element'

/** Makes nodes; equal content gets equal numbers, on both sides of a comparison. */
export class StreamTrees {
  readonly #formats: Formats
  readonly #values: ValueNumbers
  readonly #numbers: NodeNumbers

  constructor(formats: Formats, values: ValueNumbers, numbers: NodeNumbers) {
    this.#formats = formats
    this.#values = values
    this.#numbers = numbers
  }

  child(shared: SharedNode, formatting: JsonObject, type: Root | null): ChildNode {
    const format = this.#formats.of(formatting)
    const children = this.#childrenOf(shared)
    return this.childOf(shared, format, children, type)
  }

  childOf(
    shared: SharedNode,
    format: number,
    children: readonly StreamNode[],
    type: Root | null,
    hidden: ReadonlyMap<number, number> = noneHidden,
  ): ChildNode {
    const name = shared.kind === 'element' ? `element ${shared.name}` : shared.kind
    const attributes = this.#attributesOf(shared)
    const number = this.#numbers.ofElement(`${format} ${name}`, attributes, children)
    const size = sizeOf(children)
    return { kind: 'element', name, attributes, children, size, number, shared, format, type, hidden }
  }

  /** Neighbouring strings are one text. */
  stream(pieces: readonly TextPiece[]): StreamNode[] {
    const stream = new StreamBuilder(this.#numbers)
    for (const { insert, formatting } of pieces) {
      if (typeof insert === 'string') stream.text(insert, this.#formats.of(formatting))
      else stream.child(this.child(insert, formatting, null))
    }
    return stream.end()
  }

  newStream = (): StreamBuilder => new StreamBuilder(this.#numbers)

  #childrenOf(shared: SharedNode): StreamNode[] {
    if (shared.kind === 'text') return this.stream(shared.delta)
    return shared.kind === 'element' ? shared.children.map((child) => this.child(child, {}, null)) : []
  }

  /** For maps and embeds the whole value is one attribute. */
  #attributesOf(shared: SharedNode): XmlElement['attributes'] {
    if (shared.kind === 'map') return Object.entries(shared.value).map(this.#attribute).sort(byName)
    if (shared.kind === 'embed') return [['', String(this.#values.of(shared.value))]]
    return Object.entries(shared.attributes).map(this.#attribute).sort(byName)
  }

  /** Simple values as text, since ids among them say which nodes correspond. */
  #attribute = ([name, value]: [string, Json]): readonly [string, string] => [
    name,
    typeof value === 'string' ? `"${value}` : `#${this.#values.of(value)}`,
  ]
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)

/** Puts the content of one shared text together. */
export class StreamBuilder {
  readonly #nodes: StreamNode[] = []
  readonly #numbers: NodeNumbers
  readonly hidden = new Map<number, number>()
  #text = ''
  #runs: XmlRun[] = []

  constructor(numbers: NodeNumbers) {
    this.#numbers = numbers
  }

  hide(length: number): void {
    this.#endText()
    this.hidden.set(this.#nodes.length, (this.hidden.get(this.#nodes.length) ?? 0) + length)
  }

  text(text: string, format: number): void {
    if (text === '') return
    if (this.#runs.at(-1)?.marks !== format) this.#runs.push({ start: this.#text.length, marks: format })
    this.#text += text
  }

  child(node: ChildNode): void {
    this.#endText()
    this.#nodes.push(node)
  }

  end(): StreamNode[] {
    this.#endText()
    return this.#nodes
  }

  #endText(): void {
    if (this.#text === '') return
    const [text, runs] = [this.#text, this.#runs]
    this.#nodes.push({
      kind: 'text',
      text,
      runs,
      size: text.length,
      number: this.#numbers.ofText(runs, text),
    })
    this.#text = ''
    this.#runs = []
  }
}

/** The attributes of a shared text or element that JSON can say. */
export function readAttributes(type: Root): JsonObject {
  const attributes: Record<string, Json> = {}
  for (const [name, item] of type._map) {
    if (item.deleted || name === forbiddenKey) continue
    const json = readStored(item.content.getContent()[item.length - 1])?.json
    if (json !== undefined) attributes[name] = json
  }
  return attributes
}

/** Reads the live content of shared texts; hooks and fragments inside are passed over, and they stay. */
export class StreamReader {
  /** Items met, deleted ones too. */
  items = 0
  #listed = 0
  readonly #formats: Formats
  readonly #trees: StreamTrees

  constructor(formats: Formats, trees: StreamTrees) {
    this.#formats = formats
    this.#trees = trees
  }

  text(type: Root, format: number): ChildNode {
    const stream = this.#trees.newStream()
    const formatting = new Map<string, Json>()
    let current = this.#formats.of({})
    for (let item = type._start; item !== null; item = item.right) {
      this.items += 1
      if (item.deleted) continue
      const { content } = item
      if (content instanceof Y.ContentFormat) {
        const value = jsonOf(content.value) ?? null
        if (value === null) formatting.delete(content.key)
        else if (content.key !== forbiddenKey) formatting.set(content.key, value)
        if (value !== null) this.#formats.note(value, content.value)
        this.#listed += formatting.size
        if (this.#listed > limits.nodes) throw tooManyAttributes()
        current = this.#formats.of(Object.fromEntries(formatting))
      } else if (content instanceof Y.ContentString) stream.text(content.str.toWellFormed(), current)
      else if (content instanceof Y.ContentEmbed) stream.child(this.#embed(content.embed, current))
      else if (content instanceof Y.ContentType) {
        const child = this.#shared(content.type, current)
        if (child === null) stream.hide(1)
        else stream.child(child)
      } else if (item.countable) stream.hide(item.length)
    }
    const shared: SharedText = { kind: 'text', attributes: readAttributes(type), delta: [] }
    return this.#trees.childOf(shared, format, stream.end(), type, stream.hidden)
  }

  /** A shared value just made, in which nothing is yet. */
  empty(shared: SharedNode, format: number, type: Root): ChildNode {
    return this.#trees.childOf(emptied(shared), format, [], type)
  }

  #shared(type: unknown, format: number): ChildNode | null {
    if (type instanceof Y.XmlText) return this.text(asRoot(type), format)
    if (type instanceof Y.XmlElement) return this.#element(type, format)
    if (!(type instanceof Y.Map) || type instanceof Y.XmlHook) return null
    const { json } = readMap(asRoot(type))
    return this.#trees.childOf({ kind: 'map', value: json }, format, [], asRoot(type))
  }

  #element(type: Y.XmlElement, format: number): ChildNode {
    const children: ChildNode[] = []
    const plain = this.#formats.of({})
    for (let item = type._start; item !== null; item = item.right) {
      this.items += 1
      if (item.deleted || !(item.content instanceof Y.ContentType)) continue
      const child: unknown = item.content.type
      if (child instanceof Y.XmlText) children.push(this.text(asRoot(child), plain))
      else if (child instanceof Y.XmlElement) children.push(this.#element(child, plain))
    }
    const attributes = readAttributes(asRoot(type))
    const shared: SharedElement = { kind: 'element', name: type.nodeName, attributes, children: [] }
    return this.#trees.childOf(shared, format, children, asRoot(type))
  }

  #embed(embed: unknown, format: number): ChildNode {
    const json = jsonOf(embed) ?? null
    const value = isObject(json) ? json : { embed: json }
    return this.#trees.childOf({ kind: 'embed', value }, format, [], null)
  }
}

function emptied(shared: SharedNode): SharedNode {
  if (shared.kind === 'text') return { kind: 'text', attributes: {}, delta: [] }
  if (shared.kind === 'element') return { ...shared, attributes: {}, children: [] }
  return { ...shared, value: {} }
}
