import * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { limits } from '../model/limits.ts'
import { CurrentAttributes, type Formats, newListing } from './delta-state.ts'
import { isObject, jsonOf } from './json.ts'
import { asRoot, type Root } from './kind.ts'
import { readMap } from './shared-values.ts'
import { readAttributes } from './xmltext-attributes.ts'
import type { SharedElement, SharedNode, SharedText } from './xmltext-data.ts'
import type { ChildNode } from './xmltext-nodes.ts'
import type { StreamTrees } from './xmltext-tree.ts'

/** Reads the live content of shared texts; hooks and fragments inside are passed over, and they stay. */
export class StreamReader {
  /** Items met, deleted ones too. */
  items = 0
  readonly #listing = newListing()
  readonly #formats: Formats
  readonly #trees: StreamTrees

  constructor(formats: Formats, trees: StreamTrees) {
    this.#formats = formats
    this.#trees = trees
  }

  text(type: Root, format: number): ChildNode {
    const stream = this.#trees.newStream()
    const attributes = new CurrentAttributes(this.#formats, this.#listing)
    for (let item = type._start; item !== null; item = item.right) {
      this.items += 1
      if (item.deleted) continue
      const { content } = item
      if (content instanceof Y.ContentFormat) attributes.change(content.key, content.value)
      else if (content instanceof Y.ContentString)
        stream.text(content.str.toWellFormed(), attributes.format())
      else if (content instanceof Y.ContentEmbed)
        stream.child(this.#embed(content.embed, attributes.format()))
      else if (content instanceof Y.ContentType) {
        const child = this.#shared(content.type, attributes.format())
        if (child === null) stream.hide(1)
        else stream.child(child)
      } else if (item.countable) stream.hide(item.length)
    }
    if (!attributes.complete)
      throw invalid(`texts must have at most ${limits.nodes} attributes; they have more`)
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
