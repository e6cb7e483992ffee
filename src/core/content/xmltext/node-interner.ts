import type { FormatTable } from '../delta/formatted-text.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { JsonInterner } from '../json/json-interner.ts'
import { type NodeInterner, subtreeSize } from '../xml/node-interner.ts'
import type { XmlElement } from '../xml/tree.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { SharedNode, TextPiece } from './data.ts'
import { type ChildNode, isChild, type NestedNode, NestedTextBuilder } from './nodes.ts'

const noneHidden: ReadonlyMap<number, number> = new Map()

/** Creates nodes. Equal content has equal numbers on both sides of a comparison. */
export class NestedInterner {
  readonly #formats: FormatTable
  readonly #values: JsonInterner
  readonly #numbers: NodeInterner

  constructor(formats: FormatTable, values: JsonInterner, numbers: NodeInterner) {
    this.#formats = formats
    this.#values = values
    this.#numbers = numbers
  }

  child(shared: SharedNode, formatting: JsonObject, type: SharedRoot | null): ChildNode {
    const format = this.#formats.of(formatting)
    const children = this.#childrenOf(shared)
    return this.childOf(shared, format, children, type)
  }

  childOf(
    shared: SharedNode,
    format: number,
    children: readonly NestedNode[],
    type: SharedRoot | null,
    hidden: ReadonlyMap<number, number> = noneHidden,
  ): ChildNode {
    const name = alignmentName(shared, children)
    const attributes = this.#attributesOf(shared)
    const visible = hidden.size === 0 ? children : this.#joined(children)
    const number = this.#numbers.ofElement(`${format} ${name}`, attributes, visible)
    const size = subtreeSize(children)
    return { kind: 'element', name, attributes, children, size, number, shared, format, type, hidden }
  }

  /** Returns the nodes of a text. Adjacent strings become one text node. */
  stream(pieces: readonly TextPiece[]): NestedNode[] {
    const stream = new NestedTextBuilder(this.#numbers)
    for (const { insert, formatting } of pieces) {
      if (typeof insert === 'string') stream.text(insert, this.#formats.of(formatting))
      else stream.child(this.child(insert, formatting, null))
    }
    return stream.end()
  }

  /**
   * Joins the texts on both sides of hidden items. In the data, hidden items are not shown, and these texts
   * are one text.
   */
  #joined(children: readonly NestedNode[]): readonly NestedNode[] {
    const stream = new NestedTextBuilder(this.#numbers)
    for (const node of children) {
      if (isChild(node)) stream.child(node)
      else
        for (const [index, { start, marks }] of node.runs.entries())
          stream.text(node.text.slice(start, node.runs[index + 1]?.start), marks)
    }
    return stream.end()
  }

  newStream = (): NestedTextBuilder => new NestedTextBuilder(this.#numbers)

  #childrenOf(shared: SharedNode): NestedNode[] {
    if (shared.kind === 'text') return this.stream(shared.delta)
    return shared.kind === 'element' ? shared.children.map((child) => this.child(child, {}, null)) : []
  }

  /** Returns the attributes of a node. For an embed, the whole value is one attribute. */
  #attributesOf(shared: SharedNode): XmlElement['attributes'] {
    if (shared.kind === 'map') return Object.entries(shared.value).map(this.#attribute).sort(byName)
    if (shared.kind === 'embed') return [['', String(this.#values.of(shared.value))]]
    return Object.entries(shared.attributes).map(this.#attribute).sort(byName)
  }

  /**
   * Returns an attribute as text. Strings keep their text, because a string may be an id that shows which
   * nodes correspond.
   */
  #attribute = ([name, value]: [string, Json]): readonly [string, string] => [
    name,
    typeof value === 'string' ? `"${value}` : `#${this.#values.of(value)}`,
  ]
}

/**
 * Returns the name by which nodes are aligned: only nodes of one name can become each other. Slate discards
 * blocks that are inserted into a node with text, so a text around texts never becomes a text with characters.
 */
function alignmentName(shared: SharedNode, children: readonly NestedNode[]): string {
  if (shared.kind === 'element') return `element ${shared.name}`
  const isAroundTexts =
    children.length > 0 && children.every((node) => isChild(node) && node.shared.kind === 'text')
  return shared.kind === 'text' && isAroundTexts ? 'texts' : shared.kind
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)
