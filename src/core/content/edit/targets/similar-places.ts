import type { MatchedPlace } from '../edit.ts'
import { candidatesMax } from '../edit-errors.ts'
import { type FlowView, type TextBlock, textIn } from './flow-view.ts'
import { placeOf, shownQuoteMax } from './places.ts'

/** Maximum number of different words of a quote that are compared. */
const quoteWordsMax = 200

/** Maximum length of a compared word in UTF-16 units. The remainder of a longer word is ignored. */
const wordLengthMax = 40

/** Steps of comparing the words of a text, for each UTF-16 unit. */
const stepsPerUnit = 4

/** Matches one ideograph, kana or Thai letter, or a word of another script. */
const wordPattern = /[\p{Ideographic}\u3040-\u30ff\u0e00-\u0e7f]|[\p{L}\p{N}\p{M}_]+/gu

interface FoundWord {
  readonly start: number
  readonly end: number
  readonly word: string
}

function* wordsOf(text: string): Generator<FoundWord> {
  for (const { 0: found, index } of text.matchAll(wordPattern))
    yield { start: index, end: index + found.length, word: found.slice(0, wordLengthMax).toLowerCase() }
}

/**
 * Returns the blocks that have most words in common with a quote, each as the part that is most similar to
 * the quote, the most similar first. The time is linear in the text.
 * @param isCandidate chooses the blocks that are compared
 */
export function similarPlaces(
  view: FlowView,
  quote: string,
  isCandidate: (block: TextBlock) => boolean = () => true,
): MatchedPlace[] {
  const wanted = new Set<string>()
  for (const { word } of wordsOf(quote)) {
    if (wanted.size >= quoteWordsMax) break
    wanted.add(word)
  }
  view.work.spend(view.flows.reduce((sum, { text }) => sum + text.length, 0) * stepsPerUnit)
  const best: { block: TextBlock; score: number }[] = []
  for (const block of view.blocks) {
    if (!isCandidate(block)) continue
    const score = sharedWords(textIn(view, block), wanted)
    if (score === 0 || (best.length === candidatesMax && score <= (best.at(-1)?.score ?? 0))) continue
    const at = best.findIndex((other) => other.score < score)
    best.splice(at === -1 ? best.length : at, 0, { block, score })
    best.length = Math.min(best.length, candidatesMax)
  }
  return best.map(({ block }) => placeOf(view, windowIn(view, block, quote.length, wanted)))
}

/** Returns the number of wanted words in a text. Among texts with equally many, prefers shorter ones. */
function sharedWords(text: string, wanted: ReadonlySet<string>): number {
  const found = new Set<string>()
  let count = 0
  for (const { word } of wordsOf(text)) {
    count += 1
    if (wanted.has(word)) found.add(word)
  }
  return found.size === 0 ? 0 : found.size + 1 / (1 + count)
}

/** Returns the range of a block, about as long as the quote, that has most wanted words. */
function windowIn(
  view: FlowView,
  block: TextBlock,
  quoteLength: number,
  wanted: ReadonlySet<string>,
): { flow: number; start: number; end: number } {
  const length = Math.min(shownQuoteMax, Math.max(quoteLength, 1))
  const inside: FoundWord[] = []
  let [start, end, most] = [0, 0, 0]
  for (const found of wordsOf(textIn(view, block))) {
    if (!wanted.has(found.word)) continue
    inside.push(found)
    while (inside.length > 1 && found.end - (inside[0] as FoundWord).start > length) inside.shift()
    const different = new Set(inside.map(({ word }) => word)).size
    if (different <= most) continue
    most = different
    start = (inside[0] as FoundWord).start
    end = found.end
  }
  return { flow: block.flow, start: block.start + start, end: block.start + end }
}
