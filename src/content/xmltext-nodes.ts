import type { Root } from './kind.ts'
import type { NodeNumbers } from './xml-hash.ts'
import type { XmlElement, XmlNode, XmlRun, XmlText } from './xml-tree.ts'
import type { SharedNode } from './xmltext-data.ts'

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

export type StreamNode = TextNode | ChildNode

export const isChild = (node: XmlNode): node is ChildNode => node.kind === 'element'

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
