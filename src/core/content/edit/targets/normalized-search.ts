import { firstIndex } from '../../../base/search.ts'
import type { Graphemes } from '../../text/graphemes.ts'
import type { TextFlow, TextRange } from './flow-view.ts'
import { normalizeText } from './normalized-text.ts'
import { occurrences } from './occurrences.ts'

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
export interface FlowPosition {
  readonly flow: number
  readonly offset: number
}

/**
 * Returns the parts of a range that are in flows; null if there are none, or if the range splits a grapheme
 * cluster.
 */
export function rangesBetween(
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
