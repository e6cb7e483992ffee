import type { Hunk } from '../diff/diff.ts'
import {
  AttributeCursor,
  emptyAttributes,
  type PlainTextState,
  sharedAttributes,
  type TextAttributes,
} from './text-state.ts'

/** A range of inserted text with the same attributes. */
export interface Piece {
  readonly text: string
  readonly attributes: TextAttributes
}

/**
 * Maximum number of formatting marks of one replacement that exclude line breaks from formatting. Beyond it,
 * line breaks are formatted like their lines. Each change of attributes costs a mark for each attribute.
 */
const lineMarksMax = 5_000

/**
 * Determines the attributes of inserted text. Replaced text takes those of the first replaced character that
 * is not a line break. A pure insertion takes those that its two neighbors on the line share, at the end of a
 * line those of the left one, at the start none. Line breaks take none: their attributes apply to a whole
 * line.
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
   * Returns the inserted text of the hunk, split where its attributes change. Hunks must be requested in
   * their order.
   */
  pieces(hunk: Hunk, inserted: string): Piece[] {
    if (inserted === '') return []
    const replaced = firstReplaced(this.#state.text, hunk)
    if (replaced === null) return this.#pureInsertion(hunk.aStart, inserted)
    return this.#perLine(inserted, this.#cursor.at(replaced))
  }

  /** Only the first line has a left neighbor on its line, and only the last line a right one. */
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
