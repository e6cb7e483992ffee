import type { MatchedPlace, QuoteTarget } from '../edit.ts'
import { candidatesMax, targetAmbiguous, targetNotFound } from '../edit-errors.ts'
import type { FlowView } from './flow-view.ts'
import { normalizeText } from './normalized-text.ts'
import { placeOf, shownText } from './places.ts'
import { type Pattern, type QuoteRanges, QuoteSearch } from './quote-search.ts'
import { similarPlaces } from './similar-places.ts'

/**
 * Returns the ranges that a quote matches.
 * @param similarTo returns places that are similar to a quote that the view does not contain
 * @throws ApiError FAILED_PRECONDITION if the view does not contain the quote, or contains it several times
 */
export function findQuote(
  view: FlowView,
  target: QuoteTarget,
  place: string,
  similarTo: SimilarPlaces = similarPlaces,
): QuoteRanges {
  const { occurrence } = target
  const matches = occurrence === null ? firstMatches(view, target) : nthMatch(view, target, occurrence)
  const [match, ...others] = matches
  const quoted = shownText(target.quote)
  if (match === undefined) throw notFound(view, target, place, similarTo)
  if (others.length > 0) {
    const count = matches.length > candidatesMax ? `more than ${candidatesMax}` : matches.length
    throw targetAmbiguous(
      `${place}: the document contains the text ${quoted} ${count} times; send before, after or occurrence`,
      matches.map(([first]) => placeOf(view, first)),
    )
  }
  return match
}

type SimilarPlaces = (view: FlowView, quote: string) => readonly MatchedPlace[]

function notFound(view: FlowView, target: QuoteTarget, place: string, similarTo: SimilarPlaces): Error {
  const quoted = shownText(target.quote)
  const found = firstMatches(view, { ...target, before: '', after: '' })
  const candidates =
    found.length > 0 ? found.map(([first]) => placeOf(view, first)) : similarTo(view, target.quote)
  const problem =
    found.length === 0
      ? `${place}: the document does not contain the text ${quoted}`
      : target.occurrence === null
        ? `${place}: the document contains the text ${quoted}, but not with this text before and after it`
        : `${place}: the document does not contain the text ${quoted} ${target.occurrence} times`
  return targetNotFound(problem, candidates)
}

/** Returns the first matches, overlapping ones included; at most one more than an error can name. */
function firstMatches(view: FlowView, target: QuoteTarget): QuoteRanges[] {
  const found: QuoteRanges[] = []
  for (const match of matchesOf(view, target)) {
    found.push(match)
    if (found.length > candidatesMax) break
  }
  return found
}

/** Returns the match with this number, from 1. Matches that overlap an earlier match do not count. */
function nthMatch(view: FlowView, target: QuoteTarget, occurrence: number): QuoteRanges[] {
  let count = 0
  let [flow, offset] = [-1, 0]
  for (const match of matchesOf(view, target)) {
    const [first] = match
    if (first.flow < flow || (first.flow === flow && first.start < offset)) continue
    count += 1
    if (count === occurrence) return [match]
    const last = match.at(-1) ?? first
    ;[flow, offset] = [last.flow, last.end]
  }
  return []
}

function* matchesOf(view: FlowView, target: QuoteTarget): Generator<QuoteRanges, void> {
  const search = new QuoteSearch(view.flows, target.acrossBlocks, view.work)
  for (const pattern of patternsOf(target)) {
    let count = 0
    for (const match of search.matches(pattern)) {
      yield match
      count += 1
    }
    if (count > 0) return
  }
}

/**
 * Returns the patterns of a quote with its context. A space between the quote and its context may be missing
 * in the target, so that further patterns have one.
 */
function* patternsOf(target: QuoteTarget): Generator<Pattern, void> {
  const [quote, before, after] = [target.quote, target.before, target.after].map(
    (text) => normalizeText(text.toWellFormed()).text,
  ) as [string, string, string]
  if (quote === '') return
  for (const left of before === '' ? [''] : ['', ' ']) {
    for (const right of after === '' ? [''] : ['', ' ']) {
      const start = joined(`${before}${left}`, quote)
      const end = joined(start.text, `${right}${after}`)
      // The quote may begin or end with the space that its context also has.
      yield { text: end.text, start: start.length, end: start.text.length }
    }
  }
}

/** Joins two normalized texts. A space at both sides becomes one. `length` is the length before the second. */
function joined(first: string, second: string): { text: string; length: number } {
  const left = first.endsWith(' ') && second.startsWith(' ') ? first.slice(0, -1) : first
  return { text: left + second, length: left.length }
}
