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

/** A shared type that can contain XML: an element, or a root of any type. */
export type XmlParent = SharedRoot

/**
 * Assigns numbers to nodes, from the leaves up. Equal trees have equal numbers. Unlike hashes, numbers cannot
 * collide. The work is linear in the content. Control characters serve as separators: names and
 * attributes contain no control characters, and a text is the last part of its key.
 */
export class NodeInterner {
  readonly #numbers = new Map<string, number>()

  ofText(runs: readonly XmlRun[], text: string): number {
    const marks = runs.length === 1 && runs[0]?.marks === 0 ? '' : runs.map(markKey).join()
    return this.#numberOf(`${marks}\u0001${text}`)
  }

  ofElement(name: string, attributes: XmlElement['attributes'], children: readonly XmlNode[]): number {
    let key = name
    for (const [attribute, text] of attributes) key += `\u0002${attribute}\u0003${text}`
    key += '\u0004'
    for (const child of children) key += `${child.number},`
    return this.#numberOf(key)
  }

  #numberOf(key: string): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

/** Returns the size of an element that has these children. */
export function subtreeSize(children: readonly XmlNode[]): number {
  let size = 1
  for (const child of children) size += child.size
  return size
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
  take(): { text: string; runs: readonly XmlRun[] } | null {
    if (this.#text === '') return null
    const taken = { text: this.#text, runs: this.#runs }
    this.#text = ''
    this.#runs = []
    return taken
  }
}
