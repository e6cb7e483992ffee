import * as Y from 'yjs'
import type { Random } from '../support/random.ts'
import { differences, type FlatText, flatText, isUntouched, neighborsAt, partAt } from './flat-text.ts'

/** A caret, and the characters around it. The task does not change these characters. */
export interface Caret {
  readonly position: Y.RelativePosition
  readonly neighbors: string
}

/** Chooses random carets whose neighbors are the same before and after a task. */
export class CaretChoice {
  readonly #before: FlatText
  readonly #random: Random
  readonly #isFree: (offset: number) => boolean
  /** Offsets in the texts that the task changes, and in the texts next to these. */
  readonly #near: readonly number[]

  /** @param doc the document before the task @param expected the document after it */
  constructor(doc: Y.Doc, expected: Y.Doc, random: Random) {
    const [before, after] = [flatText(doc), flatText(expected)]
    this.#before = before
    this.#random = random
    const hunks = differences(before, after)
    this.#isFree = (offset) => isUntouched(before, after, hunks, offset)
    const { parts } = before
    // The boundary before the text belongs to it: it stands for the elements around the text.
    const changed = parts.flatMap(({ start, end }, index) =>
      hunks.some(({ aStart, aEnd }) => aStart <= end && start - 1 <= aEnd) ? [index] : [],
    )
    const near = new Set(changed.flatMap((index) => [index - 1, index, index + 1]))
    this.#near = parts
      .filter((_part, index) => near.has(index))
      .flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, offset) => start + offset))
      .filter(this.#isFree)
  }

  /** Returns a caret in or next to a text that the task changes; anywhere, if there is none. */
  near(): Caret {
    const { length } = this.#near
    return length === 0 ? this.anywhere() : this.#caretAt(this.#near[this.#random(length)] as number)
  }

  anywhere(): Caret {
    for (;;) {
      const offset = this.#random(this.#before.text.length)
      if (this.#isFree(offset)) return this.#caretAt(offset)
    }
  }

  #caretAt(offset: number): Caret {
    const part = partAt(this.#before, offset)
    if (part === undefined) throw new Error(`no text has the offset ${offset}`)
    return {
      position: Y.createRelativePositionFromTypeIndex(part.type, offset - part.start),
      neighbors: neighborsAt(this.#before.text, offset),
    }
  }
}

/** Returns the carets that have other neighbors than before. */
export function movedCarets(doc: Y.Doc, carets: readonly Caret[]): readonly Caret[] {
  const { text, parts } = flatText(doc)
  const starts = new Map(parts.map(({ type, start }) => [type as Y.AbstractType<unknown>, start]))
  return carets.filter(({ position, neighbors }) => {
    const place = Y.createAbsolutePositionFromRelativePosition(position, doc)
    const start = place === null ? undefined : starts.get(place.type)
    return place === null || start === undefined || neighborsAt(text, start + place.index) !== neighbors
  })
}
