import { equalityDeep } from 'lib0/function'
import * as Y from 'yjs'
import { firstIndex } from '../../base/search.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { SequenceFormats } from '../yjs/sequence-content.ts'

export type TextAttributes = Readonly<Record<string, unknown>>

/** An item of a text that occupies positions but is not part of its string. */
export interface Embed {
  /** Offset in the string. Several embeds may have the same offset. */
  readonly at: number
  /** Number of positions that the item occupies. */
  readonly length: number
  /**
   * True for an item that operations on a text cannot delete. Such an item exists if the root was misused as
   * another type.
   */
  readonly fixed: boolean
}

/** A range of the string with one set of attributes. The range ends at the start of the next range. */
export interface AttributeRun {
  readonly start: number
  /** Differences from the attributes of the previous run; null removes an attribute. */
  readonly changes: readonly (readonly [key: string, value: unknown])[]
  /** Number of attributes of the range. */
  readonly size: number
}

/** The content of a text root. It is read without changing the root. */
export interface PlainTextState {
  /**
   * The string. Each unpaired surrogate is replaced with U+D800, which well-formed text cannot contain as a
   * code point.
   */
  readonly text: string
  readonly runs: readonly AttributeRun[]
  readonly embeds: readonly Embed[]
  /** Number of items of the root. Deleted items count, because Yjs also passes over them. */
  readonly items: number
}

/** Returns the state of a text without formatting and embeds. */
export const plainState = (text: string): PlainTextState => ({ text, runs: [], embeds: [], items: 0 })

/** An empty attribute set. It has no prototype, because attribute names come from documents. */
export const emptyAttributes: TextAttributes = Object.freeze(Object.create(null))

/**
 * Reads the live items of a text root. A surrogate counts as unpaired if its partner is not in the same item:
 * items are encoded one by one, so other replicas read U+FFFD at this position, regardless of the adjacent
 * item.
 */
export function readTextState(root: SharedRoot | undefined): PlainTextState {
  const parts: string[] = []
  const runs: AttributeRun[] = []
  const formats = new SequenceFormats()
  const embeds: Embed[] = []
  let [at, items] = [0, 0]
  for (let item = root?._start ?? null; item !== null; item = item.right) {
    items += 1
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentString) {
      const changes = formats.take()
      if (changes.length > 0 || runs.length === 0) runs.push({ start: at, changes, size: formats.size })
      parts.push(markUnpaired(content.str))
      at += content.str.length
    } else if (content instanceof Y.ContentFormat) formats.set(content.key, content.value)
    else if (item.countable) {
      const fixed = !(content instanceof Y.ContentEmbed || content instanceof Y.ContentType)
      embeds.push({ at, length: item.length, fixed })
    }
  }
  return { text: parts.join(''), runs, embeds, items }
}

/** Returns the string of a text, as `readTextState` does. */
export function storedText(root: SharedRoot): string {
  let text = ''
  for (let item = root._start; item !== null; item = item.right)
    if (!item.deleted && item.content instanceof Y.ContentString) text += markUnpaired(item.content.str)
  return text
}

/** Returns the attributes that both characters have. */
export const sharedAttributes = (left: TextAttributes, right: TextAttributes): TextAttributes =>
  attributesFrom(
    Object.entries(left).filter(([key, value]) => key in right && equalityDeep(right[key], value)),
  )

function attributesFrom(entries: Iterable<readonly [string, unknown]>): TextAttributes {
  const attributes: Record<string, unknown> = Object.create(null)
  for (const [key, value] of entries) attributes[key] = value
  return attributes
}

const unpaired = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Replaces each unpaired surrogate of the string of an item with another one, by default U+D800. */
export const markUnpaired = (text: string, placeholder = '\ud800'): string =>
  text.isWellFormed() ? text : text.replace(unpaired, placeholder)

/** Returns the index of the run that contains the character at `at`; 0 if the text has no characters. */
export const runIndexAtOffset = (runs: readonly { readonly start: number }[], at: number): number =>
  Math.max(0, firstIndex(runs.length, (index) => (runs[index] as { start: number }).start > at) - 1)

/** Finds the runs that contain the characters at offsets, which must ascend. */
export class RunCursor<Run extends { readonly start: number }> {
  readonly #runs: readonly Run[]
  #index = 0

  constructor(runs: readonly Run[]) {
    this.#runs = runs
  }

  /** Returns the run, and its end; Infinity for the last run. */
  at(offset: number): { readonly run: Run | undefined; readonly end: number } {
    while (this.#end <= offset) this.#index += 1
    return { run: this.#runs[this.#index], end: this.#end }
  }

  get #end(): number {
    return this.#runs[this.#index + 1]?.start ?? Number.POSITIVE_INFINITY
  }
}

/**
 * Returns the attributes of characters. The offsets must be requested in ascending order, so that a whole
 * replacement needs only one pass.
 */
export class AttributeCursor {
  readonly #runs: readonly AttributeRun[]
  readonly #current = new Map<string, unknown>()
  #next = 0
  #snapshot: TextAttributes = emptyAttributes

  constructor(runs: readonly AttributeRun[]) {
    this.#runs = runs
  }

  at(offset: number): TextAttributes {
    const from = this.#next
    for (let run = this.#runs[from]; run !== undefined && run.start <= offset; run = this.#runs[this.#next]) {
      for (const [key, value] of run.changes) {
        if (value === null) this.#current.delete(key)
        else this.#current.set(key, value)
      }
      this.#next += 1
    }
    if (this.#next > from)
      this.#snapshot = this.#current.size === 0 ? emptyAttributes : attributesFrom(this.#current)
    return this.#snapshot
  }
}

/** Returns the string in well-formed Unicode, which is the form in which every replica reads it. */
export const plainText = (state: PlainTextState): string => state.text.toWellFormed()
