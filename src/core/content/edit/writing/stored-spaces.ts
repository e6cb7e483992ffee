import { diffText } from '../../diff/text-diff.ts'
import { stepsMax } from '../../text/plan.ts'
import type { EditTarget } from '../edit.ts'
import { type FlowView, type TextRange, textIn } from '../targets/flow-view.ts'

/** Maximum number of differences between a quote and its replacement that are compared by words. */
const editsMax = 10_000

/**
 * Returns the replacement of a quote, adapted to the stored text that the quote matches. White space that the
 * quote and its replacement have in common is written as it is stored, because a quote may state one space
 * for a line break or for several spaces.
 */
function withStoredSpaces(stored: string, quote: string, text: string): string {
  if (stored === quote) return text
  const walk = new ParallelWalk(stored, quote)
  const parts: string[] = []
  for (const { aStart, aEnd, bStart, bEnd } of diffText(quote, text, { steps: stepsMax }, editsMax)) {
    parts.push(walk.to(aStart), text.slice(bStart, bEnd))
    walk.to(aEnd)
  }
  parts.push(walk.to(quote.length))
  return walk.isAligned ? parts.join('') : text
}

/** Passes over a stored text and a quote that are equal except for the length and kind of their white space. */
class ParallelWalk {
  /** False if the texts differ, or if a step ended inside white space. */
  isAligned = true
  readonly #stored: string
  readonly #quote: string
  #at = 0
  #quoteAt = 0

  constructor(stored: string, quote: string) {
    this.#stored = stored
    this.#quote = quote
  }

  /** Advances to an offset of the quote. Returns the stored text that was passed. */
  to(end: number): string {
    const start = this.#at
    while (this.#quoteAt < end && this.isAligned) {
      const [length, quoteLength] = [runAt(this.#stored, this.#at), runAt(this.#quote, this.#quoteAt)]
      const isSame = this.#stored.charCodeAt(this.#at) === this.#quote.charCodeAt(this.#quoteAt)
      if (length > 0 && quoteLength > 0) {
        this.#at += length
        this.#quoteAt += quoteLength
      } else if (isSame) {
        this.#at += 1
        this.#quoteAt += 1
      } else this.isAligned = false
    }
    if (this.#quoteAt !== end) this.isAligned = false
    return this.#stored.slice(start, this.#at)
  }
}

/** Returns the length of the white space at an offset. */
function runAt(text: string, offset: number): number {
  let end = offset
  while (/^\s/.test(text.charAt(end))) end += 1
  return end - offset
}

/**
 * Returns the new text of each range of a target. A text with as many lines as there are ranges is divided
 * among them; otherwise the first range gets all of it.
 */
export function textsByRange(
  view: FlowView,
  target: EditTarget,
  ranges: readonly TextRange[],
  text: string,
): readonly (readonly [range: TextRange, text: string])[] {
  const lines = text.split('\n')
  const texts = lines.length === ranges.length ? lines : [text]
  return ranges.map((range, index) => {
    const own = texts[index] ?? ''
    const isQuote = target.is === 'quote' && ranges.length === 1
    return [range, isQuote ? withStoredSpaces(textIn(view, range), target.quote, own) : own]
  })
}
