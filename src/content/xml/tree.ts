import type * as Y from 'yjs'
import type { PlainTextState } from '../text/text-state.ts'
import type { MarkSet } from './mark-sets.ts'

/** A range of text with the same marks; it ends at the start of the next one. */
export interface XmlRun {
  readonly start: number
  readonly marks: MarkSet
}

/** Common members of nodes of the document and of its target. Nodes with the same number are equal. */
interface Node {
  readonly number: number
  /** UTF-16 units of its text, plus the number of elements, including itself. */
  readonly size: number
}

/** Adjacent texts as one; never empty, except as the target of a text that is emptied. */
export interface XmlText extends Node {
  readonly kind: 'text'
  readonly text: string
  readonly runs: readonly XmlRun[]
}

export interface XmlElement extends Node {
  readonly kind: 'element'
  readonly name: string
  /** Sorted by name; names and values in the XML form. */
  readonly attributes: readonly (readonly [name: string, text: string])[]
  readonly children: readonly XmlNode[]
}

export type XmlNode = XmlText | XmlElement

/** One shared text of several adjacent ones. */
export interface TextPart {
  readonly type: Y.XmlText
  /** Characters that XML does not allow are U+FFFD here. */
  readonly state: PlainTextState
  /** The marks of each run of `state` in the XML form. */
  readonly sets: readonly MarkSet[]
}

export interface LiveText extends XmlText {
  readonly parts: readonly TextPart[]
}

/** An element of the document; the root is an element without a name. */
export interface LiveElement extends XmlElement {
  readonly type: XmlParent
  readonly children: readonly LiveNode[]
  /** Texts without characters, by the number of children before them. */
  readonly blanks: ReadonlyMap<number, Y.XmlText>
}

export type LiveNode = LiveText | LiveElement

/** A type that can contain XML: an element, or a root of any type. */
export type XmlParent = NonNullable<ReturnType<Y.Doc['share']['get']>>
