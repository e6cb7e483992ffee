import type * as Y from 'yjs'
import type { PlainTextState } from '../text/text-state.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { MarkSet } from './mark-sets.ts'

/** A range of text with one set of marks. The range ends at the start of the next range. */
export interface XmlRun {
  readonly start: number
  readonly marks: MarkSet
}

/**
 * Members that nodes of the document and of its target have in common. Nodes with the same number are equal.
 */
interface Node {
  readonly number: number
  /**
   * Number of UTF-16 units of all text in the node, plus the number of elements, which includes the node
   * itself.
   */
  readonly size: number
}

/** Adjacent texts as one node. The node is empty only as the target of a text that must be emptied. */
export interface XmlText extends Node {
  readonly kind: 'text'
  readonly text: string
  readonly runs: readonly XmlRun[]
}

export interface XmlElement extends Node {
  readonly kind: 'element'
  readonly name: string
  /** Attributes sorted by name. Names and values are in the XML form. */
  readonly attributes: readonly (readonly [name: string, text: string])[]
  readonly children: readonly XmlNode[]
}

export type XmlNode = XmlText | XmlElement

/** One of several adjacent shared texts. */
export interface TextPart {
  readonly type: Y.XmlText
  /** Content of the text. Characters that XML does not allow are replaced with U+FFFD. */
  readonly state: PlainTextState
  /** The marks of each run of `state`, in the XML form. */
  readonly sets: readonly MarkSet[]
}

export interface LiveText extends XmlText {
  /** The shared texts; none for text directly in an element. */
  readonly parts: readonly TextPart[]
}

/** An element of the document. The root is an element without a name. */
export interface LiveElement extends XmlElement {
  readonly type: XmlParent
  readonly children: readonly LiveNode[]
  /** Texts without characters, by the number of children that precede them. */
  readonly blanks: ReadonlyMap<number, Y.XmlText>
}

export type LiveNode = LiveText | LiveElement

/** Yields an element and all nodes in it. */
export function* nodesWithin(root: LiveElement): Generator<LiveNode> {
  const waiting: LiveNode[] = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node
    if (node.kind === 'element') for (const child of node.children) waiting.push(child)
  }
}

/** A shared type that can contain XML: an element, or a root of any type. */
export type XmlParent = SharedRoot

/**
 * Creates nodes, and assigns numbers to them, from the leaves up. Equal trees have equal numbers. Unlike hashes,
 * numbers cannot collide. The work is linear in the content. Control characters serve as separators: names and
 * attributes contain no control characters, and a text is the last part of its key.
 */
export class NodeInterner {
  readonly #numbers = new Map<string, number>()

  text(text: string, runs: readonly XmlRun[]): XmlText {
    const marks = runs.length === 1 && runs[0]?.marks === 0 ? '' : runs.map(markKey).join()
    return { kind: 'text', text, runs, size: text.length, number: this.#numberOf(`${marks}\u0001${text}`) }
  }

  /** @param attributes in the XML form, sorted by name */
  element(name: string, attributes: XmlElement['attributes'], children: readonly XmlNode[]): XmlElement {
    let key = name
    for (const [attribute, text] of attributes) key += `\u0002${attribute}\u0003${text}`
    key += '\u0004'
    let size = 1
    for (const child of children) {
      key += `${child.number},`
      size += child.size
    }
    return { kind: 'element', name, attributes, children, size, number: this.#numberOf(key) }
  }

  #numberOf(key: string): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

const markKey = ({ start, marks }: XmlRun): string => `${start}:${marks}`

/** Joins runs of text. Adjacent runs with the same marks become one run. */
export class XmlRunBuilder {
  #text = ''
  #runs: XmlRun[] = []

  add(text: string, marks: MarkSet): void {
    if (text === '') return
    if (this.#runs.at(-1)?.marks !== marks) this.#runs.push({ start: this.#text.length, marks })
    this.#text += text
  }

  /** Returns the collected text and removes it from the builder; null if there is no text. */
  take(numbers: NodeInterner): XmlText | null {
    if (this.#text === '') return null
    const taken = numbers.text(this.#text, this.#runs)
    this.#text = ''
    this.#runs = []
    return taken
  }
}

/** Builds the children of an element. Adjacent texts become one node. */
export class ChildrenBuilder<Other extends XmlNode = XmlNode> {
  readonly #numbers: NodeInterner
  readonly #runs = new XmlRunBuilder()
  #nodes: (XmlText | Other)[] = []

  constructor(numbers: NodeInterner) {
    this.#numbers = numbers
  }

  text(text: string, marks: MarkSet): void {
    this.#runs.add(text, marks)
  }

  /** Adds the ranges of a text node. */
  runsOf({ text, runs }: Pick<XmlText, 'text' | 'runs'>): void {
    for (const [index, { start, marks }] of runs.entries())
      this.#runs.add(text.slice(start, runs[index + 1]?.start), marks)
  }

  node(node: Other): void {
    this.endText()
    this.#nodes.push(node)
  }

  add(node: XmlText | Other): void {
    if (node.kind === 'text') this.runsOf(node)
    else this.node(node)
  }

  /** Ends the text, so that the next one is another node. Returns the number of nodes so far. */
  endText(): number {
    const text = this.#runs.take(this.#numbers)
    if (text !== null) this.#nodes.push(text)
    return this.#nodes.length
  }

  /** Returns the nodes, and starts anew. */
  take(): (XmlText | Other)[] {
    this.endText()
    const nodes = this.#nodes
    this.#nodes = []
    return nodes
  }
}
