import { firstIndex } from '../../../base/search.ts'
import type { Graphemes } from '../../text/graphemes.ts'
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
