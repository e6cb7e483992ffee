import type { Hunk } from '../diff/diff.ts'
import { type DeltaAttributes, TextChange } from './operations.ts'
import {
  AttributeCursor,
  type Embed,
  emptyAttributes,
  type PlainTextState,
  sharedAttributes,
  type TextAttributes,
} from './text-state.ts'

/**
 * Converts edits to one delta. The positions in the delta count the embeds of the text. At each position,
 * inserts precede deletes.
 */
export function editsToDelta(state: PlainTextState, target: string, hunks: readonly Hunk[]): TextChange {
  const writer = new TextStateWriter(state)
  const formatter = new InsertedAttributes(state)
  for (const hunk of hunks) {
    const inserted = target.slice(hunk.bStart, hunk.bEnd)
    const wholeLines = hunk.aStart === hunk.aEnd && inserted.endsWith('\n')
    writer.keepTo(hunk.aStart, wholeLines || target === '')
    for (const { text, attributes } of formatter.pieces(hunk, inserted)) writer.insert(text, attributes)
    writer.deleteTo(hunk.aEnd, target === '')
  }
  return writer
}

/** Writes the operations of a change of a text. Tracks the position in the string and among the embeds. */
class TextStateWriter<Insert = string> extends TextChange<Insert> {
  protected at = 0
  readonly #embeds: readonly Embed[]
  #embed = 0

  constructor({ embeds }: Pick<PlainTextState, 'embeds'>) {
    super()
    this.#embeds = embeds
  }

  /** Keeps everything before `offset`. Embeds at `offset` are also kept, unless `beforeEmbeds` is true. */
  keepTo(offset: number, beforeEmbeds: boolean): void {
    for (let embed = this.#next(); embed !== undefined; embed = this.#next()) {
      if (embed.at > offset || (embed.at === offset && beforeEmbeds)) break
      this.keepCharacters(embed.at)
      this.retain(embed.length)
      this.#embed += 1
    }
    this.keepCharacters(offset)
  }

  /**
   * Deletes everything up to `offset`, including the embeds that are strictly between the two ends. If
   * `everything` is true, also deletes the embeds at both ends.
   */
  deleteTo(offset: number, everything: boolean): void {
    for (let embed = this.#next(); embed !== undefined; embed = this.#next()) {
      if (everything ? embed.at > offset : embed.at >= offset) break
      this.delete(embed.at - this.at)
      if (embed.fixed) this.retain(embed.length)
      else this.delete(embed.length)
      this.at = embed.at
      this.#embed += 1
    }
    this.delete(offset - this.at)
    this.at = offset
  }

  /** Keeps the characters up to `offset`, with their attributes. */
  protected keepCharacters(offset: number): void {
    this.retain(offset - this.at)
    this.at = offset
  }

  #next(): Embed | undefined {
    return this.#embeds[this.#embed]
  }
}

/** Also gives the characters that stay the formatting of a target text, range by range. */
export abstract class FormattedTextWriter<Insert = string> extends TextStateWriter<Insert> {
  protected targetAt = 0

  /**
   * Writes edits, in order, and keeps the text up to `end`.
   * @param beforeEmbeds as for `keepTo`
   * @param everything as for `deleteTo`
   */
  apply(hunks: readonly Hunk[], end: number, beforeEmbeds: boolean, everything: boolean): this {
    for (const { aStart, aEnd, bEnd } of hunks) {
      this.keepTo(aStart, beforeEmbeds)
      this.insertTo(bEnd)
      this.deleteTo(aEnd, everything)
    }
    this.keepTo(end, false)
    return this
  }

  /** Inserts the target up to an offset. */
  protected abstract insertTo(targetOffset: number): void

  /** Keeps characters that have the same formatting before and after the change. */
  protected keepRange(length: number, change: DeltaAttributes | null): void {
    this.retain(length, change)
    this.at += length
    this.targetAt += length
  }
}

/** A range of inserted text with one set of attributes. */
interface Piece {
  readonly text: string
  readonly attributes: TextAttributes
}

/**
 * Maximum number of formatting marks that one replacement spends to exclude line breaks from formatting.
 * Beyond this number, line breaks are formatted like their lines. Each change of attributes costs one mark
 * for each attribute.
 */
const lineMarksMax = 5_000

/**
 * Determines the attributes of inserted text. Text that replaces other text gets the attributes of the first
 * replaced character that is not a line break. A pure insertion gets the attributes that both its neighbors
 * on the line have; at the end of a line, those of the left neighbor; at the start of a line, none. Line
 * breaks get no attributes, because their attributes apply to a whole line.
 */
export class InsertedAttributes {
  readonly #state: PlainTextState
  readonly #cursor: AttributeCursor
  #marksLeft = lineMarksMax

  constructor(state: PlainTextState) {
    this.#state = state
    this.#cursor = new AttributeCursor(state.runs)
  }

  /**
   * Returns the inserted text of the hunk, split at the offsets at which its attributes change. Hunks must be
   * requested in order.
   */
  pieces(hunk: Hunk, inserted: string): Piece[] {
    if (inserted === '') return []
    const replaced = firstReplaced(this.#state.text, hunk)
    if (replaced === null) return this.#pureInsertion(hunk.aStart, inserted)
    return this.#perLine(inserted, this.#cursor.at(replaced))
  }

  /**
   * Returns the pieces of a pure insertion. Only its first line has a left neighbor on the same line, and
   * only its last line has a right neighbor.
   */
  #pureInsertion(at: number, inserted: string): Piece[] {
    const { text } = this.#state
    if (at === 0 || text[at - 1] === '\n') return [{ text: inserted, attributes: emptyAttributes }]
    const left = this.#cursor.at(at - 1)
    const lineEnd = inserted.indexOf('\n')
    if (lineEnd !== -1)
      return joined([inserted.slice(0, lineEnd), inserted.slice(lineEnd)], [left, emptyAttributes])
    const atLineEnd = at === text.length || text[at] === '\n'
    return [{ text: inserted, attributes: atLineEnd ? left : sharedAttributes(left, this.#cursor.at(at)) }]
  }

  #perLine(inserted: string, attributes: TextAttributes): Piece[] {
    if (attributes === emptyAttributes) return [{ text: inserted, attributes }]
    const marks = Object.keys(attributes).length
    const parts = inserted.split(/(\n+)/, Math.floor(this.#marksLeft / marks))
    this.#marksLeft -= (parts.length - 1) * marks
    const cut = parts.reduce((length, part) => length + part.length, 0)
    const kinds = parts.map((_, index) => (index % 2 === 0 ? attributes : emptyAttributes))
    return joined([...parts, inserted.slice(cut)], [...kinds, attributes])
  }
}

const joined = (parts: readonly string[], attributes: readonly TextAttributes[]): Piece[] =>
  parts
    .map((text, index) => ({ text, attributes: attributes[index] ?? emptyAttributes }))
    .filter(({ text }) => text !== '')

function firstReplaced(text: string, { aStart, aEnd }: Hunk): number | null {
  for (let at = aStart; at < aEnd; at++) if (text.charCodeAt(at) !== 10) return at
  return null
}
