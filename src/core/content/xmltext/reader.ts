import * as Y from 'yjs'
import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import { CurrentAttributes, type FormatTable, newAttributeBudget } from '../delta/formatted-text.ts'
import { isObject, type Json, type JsonObject, setMember, toJson } from '../json/json.ts'
import { Output } from '../output.ts'
import { readMap, readStoredValue } from '../stored/shared-values.ts'
import { newValueOf } from '../values/new-values.ts'
import type { MapEdit } from '../values/write-edits.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { ChildNode, NestedInterner, SharedElement, SharedNode, SharedText } from './nodes.ts'

/**
 * Reads the live content of shared texts. Hooks and fragments in these texts are skipped, and a replacement
 * does not delete them.
 */
export class NestedTextReader {
  /** Number of items that were read, including deleted ones. */
  items = 0
  readonly #listing = newAttributeBudget()
  readonly #formats: FormatTable
  readonly #trees: NestedInterner
  readonly #output: Output

  constructor(formats: FormatTable, trees: NestedInterner, output = new Output()) {
    this.#formats = formats
    this.#trees = trees
    this.#output = output
  }

  text(type: SharedRoot, format: number): ChildNode {
    const stream = this.#trees.newStream()
    const attributes = new CurrentAttributes(this.#formats, this.#listing)
    for (let item = type._start; item !== null; item = item.right) {
      this.items += 1
      if (item.deleted) continue
      const { content } = item
      if (content instanceof Y.ContentFormat) attributes.change(content.key, content.value)
      else if (content instanceof Y.ContentString)
        stream.text(content.str.toWellFormed(), attributes.format())
      else if (content instanceof Y.ContentEmbed) stream.node(this.#embed(content.embed, attributes.format()))
      else if (content instanceof Y.ContentType) {
        const child = this.#shared(content.type, attributes.format())
        if (child === null) stream.hide(1)
        else stream.node(child)
      } else if (item.countable) stream.hide(item.length)
    }
    if (!attributes.complete)
      throw contentLimit(`texts must have at most ${limits.nodes} attributes; they have more`)
    const shared: SharedText = { kind: 'text', attributes: readAttributes(type, this.#output), delta: [] }
    return this.#trees.childOf(shared, format, stream.take(), type, stream.hidden)
  }

  /** Returns the node for a new, empty shared value. */
  empty(shared: SharedNode, format: number, type: SharedRoot): ChildNode {
    return this.#trees.childOf(emptied(shared), format, [], type)
  }

  #shared(type: unknown, format: number): ChildNode | null {
    if (type instanceof Y.XmlText) return this.text(type, format)
    if (type instanceof Y.XmlElement) return this.#element(type, format)
    if (!(type instanceof Y.Map) || type instanceof Y.XmlHook) return null
    const { json } = readMap(type, this.#output)
    return this.#trees.childOf({ kind: 'map', value: json }, format, [], type)
  }

  #element(type: Y.XmlElement, format: number): ChildNode {
    const children: ChildNode[] = []
    const plain = this.#formats.of({})
    for (let item = type._start; item !== null; item = item.right) {
      this.items += 1
      if (item.deleted || !(item.content instanceof Y.ContentType)) continue
      const child: unknown = item.content.type
      if (child instanceof Y.XmlText) children.push(this.text(child, plain))
      else if (child instanceof Y.XmlElement) children.push(this.#element(child, plain))
    }
    const attributes = readAttributes(type, this.#output)
    const shared: SharedElement = { kind: 'element', name: type.nodeName, attributes, children: [] }
    return this.#trees.childOf(shared, format, children, type)
  }

  #embed(embed: unknown, format: number): ChildNode {
    const json = toJson(embed) ?? null
    const value = isObject(json) ? json : { embed: json }
    return this.#trees.childOf({ kind: 'embed', value }, format, [], null)
  }
}

function emptied(shared: SharedNode): SharedNode {
  if (shared.kind === 'text') return { kind: 'text', attributes: {}, delta: [] }
  if (shared.kind === 'element') return { ...shared, attributes: {}, children: [] }
  return { ...shared, value: {} }
}

/** Returns the attributes of a shared text or element, except those that JSON cannot express. */
export function readAttributes(type: SharedRoot, output: Output): JsonObject {
  const attributes: Record<string, Json> = {}
  for (const [name, item] of type._map) {
    if (item.deleted) continue
    const json = readStoredValue(item.content.getContent()[item.length - 1], output)?.json
    if (json !== undefined) setMember(attributes, name, json)
  }
  return attributes
}

/** Returns the changes from the attributes `current` to the attributes `target`. */
export function changedAttributes(
  current: JsonObject,
  target: JsonObject,
  formats: FormatTable,
): Pick<MapEdit, 'set' | 'removed'> {
  const changed = Object.entries(target).filter(([name, value]) => {
    const before = Object.hasOwn(current, name) ? current[name] : undefined
    return before === undefined || !formats.same(before, value)
  })
  return {
    set: changed.map(([name, value]) => [name, newValueOf(value)]),
    removed: Object.keys(current).filter((name) => !Object.hasOwn(target, name)),
  }
}
