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
