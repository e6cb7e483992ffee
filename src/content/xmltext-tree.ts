import type { Formats } from './delta-state.ts'
import type { Json, JsonObject } from './json.ts'
import type { Root } from './kind.ts'
import type { ValueNumbers } from './value-numbers.ts'
import { type NodeNumbers, sizeOf } from './xml-hash.ts'
import type { XmlElement } from './xml-tree.ts'
import type { SharedNode, TextPiece } from './xmltext-data.ts'
import { type ChildNode, StreamBuilder, type StreamNode } from './xmltext-nodes.ts'

const noneHidden: ReadonlyMap<number, number> = new Map()

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
