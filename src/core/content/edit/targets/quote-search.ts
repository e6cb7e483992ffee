import { firstIndex } from '../../../base/search.ts'
import { Graphemes } from '../../text/graphemes.ts'
import type { WorkLimit } from '../work-limit.ts'
import type { TextFlow, TextRange } from './flow-view.ts'
import { normalizeText } from './normalized-text.ts'

/** Separator of flows that a quote must not cross. Neither a quote nor a stored text contains it. */
export const separator = '\ud801'

/** The ranges of one occurrence of a quote: one for each flow that it touches. */
export type QuoteRanges = readonly [TextRange, ...TextRange[]]

/** A normalized text that is searched, and the range of the quote in it. */
export interface Pattern {
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * Searches for patterns in flows, with the same result as `NormalizedFlows`. Only the text around the places of a
 * literal part of the pattern is normalized.
 */
export class QuoteSearch {
  readonly #flows: readonly TextFlow[]
  readonly #acrossBlocks: boolean
  readonly #work: WorkLimit
  readonly #graphemes = new Graphemes()

  constructor(flows: readonly TextFlow[], acrossBlocks: boolean, work: WorkLimit) {
    this.#flows = flows
    this.#acrossBlocks = acrossBlocks
    this.#work = work
  }

  /** Returns the ranges of a pattern, in order, overlapping ones included. */
  *matches(pattern: Pattern): Generator<QuoteRanges, void> {
    const literal = literalOf(pattern.text)
    if (this.#acrossBlocks) {
      if (this.#flows.some(({ text }) => this.#find(text, literal) !== -1))
        yield* this.#normalized(this.#flows, '\n').matches(pattern)
      return
    }
    for (const [flow, { text }] of this.#flows.entries()) {
      if (this.#find(text, literal) === -1) continue
      const whole = [{ start: 0, end: text.length }]
      const parts = literal === '' ? whole : partsAround(text, literal, pattern.text.length)
      for (const { start, end } of parts) {
        const part = { text: text.slice(start, end), pieces: [] }
        for (const [found] of this.#normalized([part], separator).matches(pattern))
          yield [{ flow, start: found.start + start, end: found.end + start }]
      }
    }
  }

  #find(text: string, literal: string): number {
    this.#work.spend(searchSteps.start + text.length * searchSteps.perUnit)
    return text.indexOf(literal)
  }

  #normalized(flows: readonly TextFlow[], between: string): NormalizedFlows {
    this.#work.spend(flows.reduce((sum, { text }) => sum + text.length, 0) * searchSteps.perNormalizedUnit)
    return new NormalizedFlows(flows, between, this.#graphemes)
  }
}

/** Steps of a search, as `WorkLimit` counts them. */
const searchSteps = {
  /** For each text, and in addition for each of its UTF-16 units. */
  start: 5,
  perUnit: 0.03,
  perNormalizedUnit: 4,
} as const

/** Maximum length of a literal. The search of the engine takes this many steps for a character at worst. */
const literalMax = 16

/** ASCII characters that no other character becomes by normalization (as U+212A becomes K). */
const stableRuns = /[!-:<-JL-_a-~]+/g

/**
 * Returns the part of a pattern that is probably the rarest of those that each text with the pattern contains as they
 * are: a long one, or one with digits and capital letters. Returns '' if there is none.
 */
function literalOf(pattern: string): string {
  let [best, most] = ['', 0]
  for (const [run] of pattern.matchAll(stableRuns)) {
    const literal = run.slice(0, literalMax)
    const weight = literal.length + literal.replace(/[a-z]+/g, '').length
    if (weight > most) [best, most] = [literal, weight]
  }
  return best
}

/** UTF-16 units beside a match that can decide whether it splits a grapheme cluster. */
const contextUnits = 128

/** Yields the parts of a text that contain all matches of a pattern. Takes linear time. */
function* partsAround(
  text: string,
  literal: string,
  patternLength: number,
): Generator<{ readonly start: number; readonly end: number }> {
  const reach = patternLength + contextUnits
  let [start, end] = [0, 0]
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + reach)) {
    const from = passed(text, at, -1, reach)
    if (from > end) {
      if (end > 0) yield { start, end }
      start = from
    }
    // The search for the next place skips further places, whose matches are also in this part.
    end = passed(text, at, 1, 2 * reach)
  }
  yield { start, end }
}

/** Returns the offset after text that has at least `length` units when it is normalized. */
function passed(text: string, at: number, step: 1 | -1, length: number): number {
  let units = 0
  let isAfterSpace = false
  let offset = at
  for (; units < length && offset >= 0 && offset < text.length; offset += step) {
    const isSpace = /^\s/.test(text.charAt(offset))
    // Marks join the character before them.
    if (!(isSpace && isAfterSpace) && text.charCodeAt(offset) < firstMark) units += 1
    isAfterSpace = isSpace
  }
  return Math.max(0, offset)
}

/** Each character below this one is a unit of normalized text. */
const firstMark = 0x300

/** A place in a list of flows. */
interface FlowPosition {
  readonly flow: number
  readonly offset: number
}

/**
 * Returns the parts of a range that are in flows; null if there are none, or if the range splits a grapheme
 * cluster.
 */
function rangesBetween(
  flows: readonly TextFlow[],
  from: FlowPosition,
  to: FlowPosition,
  graphemes: Graphemes,
): QuoteRanges | null {
  const ranges: TextRange[] = []
  for (let { flow } = from; flow <= to.flow; flow++) {
    const { text } = flows[flow] as TextFlow
    const start = flow === from.flow ? from.offset : 0
    const end = flow === to.flow ? to.offset : text.length
    if (start >= end) continue
    if (!graphemes.isBoundary(text, start) || !graphemes.isBoundary(text, end)) return null
    ranges.push({ flow, start, end })
  }
  const [first, ...others] = ranges
  return first === undefined ? null : [first, ...others]
}

/** The texts of all flows as one normalized text. Normalizing takes about 70 ns for each character. */
export class NormalizedFlows {
  readonly #flows: readonly TextFlow[]
  readonly #starts: number[] = []
  readonly #normalized: ReturnType<typeof normalizeText>
  readonly #graphemes: Graphemes

  constructor(flows: readonly TextFlow[], between: string, graphemes: Graphemes) {
    this.#flows = flows
    this.#graphemes = graphemes
    let start = 0
    for (const { text } of flows) {
      this.#starts.push(start)
      start += text.length + between.length
    }
    this.#normalized = normalizeText(flows.map(({ text }) => text).join(between))
  }

  /** Returns the ranges of a pattern, in order, overlapping ones included. */
  *matches({ text, start, end }: Pattern): Generator<QuoteRanges, void> {
    for (const at of occurrences(this.#normalized.text, text)) {
      const from = this.#positionOf(this.#normalized.rawStart(at + start))
      const to = this.#positionOf(this.#normalized.rawEnd(at + end))
      const ranges = rangesBetween(this.#flows, from, to, this.#graphemes)
      if (ranges !== null) yield ranges
    }
  }

  #positionOf(offset: number): FlowPosition {
    const starts = this.#starts
    const flow = firstIndex(starts.length, (index) => (starts[index] as number) > offset) - 1
    return { flow, offset: offset - (starts[flow] as number) }
  }
}

/** Maximum length of a pattern for which the search of the engine is used. Its worst case is quadratic. */
const shortMax = 64

/** Returns the offsets at which `pattern` occurs in `text`, in order, overlapping ones included. Linear time. */
export function* occurrences(text: string, pattern: string): Generator<number, void> {
  if (pattern === '') return
  if (pattern.length > shortMax) {
    yield* occurrencesOfLong(text, pattern)
    return
  }
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) yield at
}

/** Knuth, Morris and Pratt (1977). */
function* occurrencesOfLong(text: string, pattern: string): Generator<number, void> {
  const borders = bordersOf(pattern)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number
    if (pattern.charCodeAt(matched) === unit) matched += 1
    if (matched < pattern.length) continue
    yield at + 1 - pattern.length
    matched = borders[matched - 1] as number
  }
}

/** Returns for each prefix of the pattern the length of its longest proper border. */
function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length)
  let length = 0
  for (let at = 1; at < pattern.length; at++) {
    while (length > 0 && pattern.charCodeAt(length) !== pattern.charCodeAt(at))
      length = borders[length - 1] as number
    if (pattern.charCodeAt(length) === pattern.charCodeAt(at)) length += 1
    borders[at] = length
  }
  return borders
}
