import * as Y from 'yjs'
import type { FormatTable } from '../delta/formatted-text.ts'
import type { Json, JsonInterner, JsonObject } from '../json/json.ts'
import { byName } from '../xml/names.ts'
import {
  ChildrenBuilder,
  type NodeInterner,
  type XmlElement,
  type XmlNode,
  type XmlText,
} from '../xml/tree.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/**
 * A shared text that has attributes, as Lexical and Slate use it for every element: `{ "attributes": {…},
 * "delta": [operations] }`. Both members are optional.
 */
export interface SharedText {
  readonly kind: 'text'
  readonly attributes: JsonObject
  readonly delta: readonly TextPiece[]
}

/**
 * A shared XML element: `{ "name": "…", "attributes": {…}, "children": [{ "text": … }, { "element": … }] }`.
 */
export interface SharedElement {
  readonly kind: 'element'
  readonly name: string
  readonly attributes: JsonObject
  readonly children: readonly (SharedText | SharedElement)[]
}

interface SharedMap {
  readonly kind: 'map'
  readonly value: JsonObject
}

/** A plain value that is embedded in a text. */
interface Embedded {
  readonly kind: 'embed'
  readonly value: JsonObject
}

export type SharedNode = SharedText | SharedElement | SharedMap | Embedded

/**
 * An operation. It has `insert` with a string or an embed (an object), as in a Quill delta, or a shared value
 * in `text`, `element` or `map`. `attributes` contains its formatting.
 */
export interface TextPiece {
  readonly insert: string | SharedNode
  readonly formatting: JsonObject
}

/**
 * Shared texts as trees, which can be aligned like XML. A range of text is a text node whose runs contain the
 * numbers of attribute sets. An embedded value is an element with the name of its kind.
 */
export type TextNode = XmlText

export interface ChildNode extends XmlElement {
  readonly kind: 'element'
  readonly shared: SharedNode
  /** Number of the formatting of the value; 0 if the value has no formatting. */
  readonly format: number
  /** The shared type; null if the node is not in a document. */
  readonly type: SharedRoot | null
  readonly children: readonly NestedNode[]
  /** Number of hidden positions, by the number of children that precede them. */
  readonly hidden: ReadonlyMap<number, number>
}

export type NestedNode = TextNode | ChildNode

export const isChild = (node: XmlNode): node is ChildNode => node.kind === 'element'

/** Builds the content of one shared text. */
class NestedTextBuilder extends ChildrenBuilder<ChildNode> {
  readonly hidden = new Map<number, number>()

  hide(length: number): void {
    const at = this.endText()
    this.hidden.set(at, (this.hidden.get(at) ?? 0) + length)
  }
}

/** A shared type that is inserted empty, and the content that it must get. */
export interface EmptyType {
  readonly type: SharedRoot
  readonly target: ChildNode
}

/**
 * Returns a new, empty shared type of the target's kind. Returns null if the target is an embed, which is a
 * plain value.
 */
export function emptyTypeFor(target: ChildNode): EmptyType | null {
  return target.shared.kind === 'embed' ? null : { type: emptyType(target.shared), target }
}

function emptyType(shared: SharedNode): SharedRoot {
  if (shared.kind === 'element') return new Y.XmlElement(shared.name)
  return shared.kind === 'map' ? new Y.Map() : new Y.XmlText()
}

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
    const { size, number } = this.#numbers.element(`${format} ${name}`, attributes, visible)
    return { kind: 'element', name, attributes, children, size, number, shared, format, type, hidden }
  }

  /** Returns the nodes of a text. Adjacent strings become one text node. */
  stream(pieces: readonly TextPiece[]): NestedNode[] {
    const stream = new NestedTextBuilder(this.#numbers)
    for (const { insert, formatting } of pieces) {
      if (typeof insert === 'string') stream.text(insert, this.#formats.of(formatting))
      else stream.node(this.child(insert, formatting, null))
    }
    return stream.take()
  }

  /**
   * Joins the texts on both sides of hidden items. In the data, hidden items are not shown, and these texts
   * are one text.
   */
  #joined(children: readonly NestedNode[]): readonly NestedNode[] {
    const stream = new NestedTextBuilder(this.#numbers)
    for (const node of children) stream.add(node)
    return stream.take()
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
