import type { NodeInterner } from '../xml/node-interner.ts'
import type { XmlElement, XmlNode, XmlRun, XmlText } from '../xml/tree.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { SharedNode } from './data.ts'

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
export class NestedTextBuilder {
  readonly #nodes: NestedNode[] = []
  readonly #numbers: NodeInterner
  readonly hidden = new Map<number, number>()
  #text = ''
  #runs: XmlRun[] = []

  constructor(numbers: NodeInterner) {
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

  end(): NestedNode[] {
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
