import type * as Y from 'yjs'
import type { PlainTextState } from '../text/text-state.ts'
import type { MarkSet } from './mark-sets.ts'

/** A stretch of text with the same marks; it ends where the next one starts. */
export interface XmlRun {
  readonly start: number
  readonly marks: MarkSet
}

/** What the document and its target have in common. Nodes with the same number are equal. */
interface Node {
  readonly number: number
  /** UTF-16 units of text and elements in it, itself included. */
  readonly size: number
}

/** Neighbouring texts as one; never empty, except as the target of one that is to be emptied. */
export interface XmlText extends Node {
  readonly kind: 'text'
  readonly text: string
  readonly runs: readonly XmlRun[]
}

export interface XmlElement extends Node {
  readonly kind: 'element'
  readonly name: string
  /** Sorted by name; names and values as XML shows them. */
  readonly attributes: readonly (readonly [name: string, text: string])[]
  readonly children: readonly XmlNode[]
}

export type XmlNode = XmlText | XmlElement

/** One shared text of several that stand next to each other. */
export interface TextPart {
  readonly type: Y.XmlText
  /** Characters that XML cannot say are U+FFFD here. */
  readonly state: PlainTextState
  /** The marks of each run of `state` as XML shows them. */
  readonly sets: readonly MarkSet[]
}

export interface LiveText extends XmlText {
  readonly parts: readonly TextPart[]
}

/** An element of the document; its root is one without a name. */
export interface LiveElement extends XmlElement {
  readonly type: XmlParent
  readonly children: readonly LiveNode[]
  /** Texts without characters, by the number of children before them. */
  readonly blanks: ReadonlyMap<number, Y.XmlText>
}

export type LiveNode = LiveText | LiveElement

/** What can hold XML: an element, or a root of whatever type. */
export type XmlParent = NonNullable<ReturnType<Y.Doc['share']['get']>>
