import { memoryLimits } from './limits.ts'

/** English words that do not describe the judged content. A search ignores them. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by ' +
    'can could did do does doing down during each few for from further had has have having he her here hers him his how ' +
    'i if in into is it its itself just me more most my no nor not now of off on once only or other our ours out over ' +
    'own same she should so some such than that the their theirs them then there these they this those through to too ' +
    'under until up very was we were what when where which while who whom why will with would you your yours'
  ).split(' '),
)

const separators = /[\p{Z}\p{P}\p{S}\p{C}]+/u
/** Matches letters of scripts that do not put spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Khmer}\p{sc=Lao}\p{sc=Myanmar}]/u

/** Maximum number of characters that are passed to the segmenter at a time. */
const segmentedAtOnce = 256
const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

/**
 * Returns the words of a text, including repetitions. The words are in lower case and normalized by NFKC.
 * Stop words are left out.
 */
export function termsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase()
  return plain
    .split(separators)
    .flatMap((word) => (unspaced.test(word) ? segmentsOf(word) : [word]))
    .filter((word) => word !== '' && !stopWords.has(word))
    .map((word) => word.slice(0, memoryLimits.termCharacters))
}

/** Returns the distinct words of a text that a search uses, at most `queryTerms`. */
export const searchTermsOf = (text: string): string[] =>
  [...new Set(termsOf(text))].slice(0, memoryLimits.queryTerms)

/**
 * Splits a text of a script without spaces into words. The segmenter gets the text in parts, because its time
 * grows with the square of the length. The last word of a part may be incomplete, so the next part starts
 * with this word.
 */
function segmentsOf(word: string): string[] {
  const all: string[] = []
  for (let at = 0; at < word.length; ) {
    const part = word.slice(at, at + segmentedAtOnce)
    const segments = [...segmenter.segment(part)].map(({ segment }) => segment)
    if (at + part.length < word.length && segments.length > 1) segments.pop()
    all.push(...segments)
    for (const { length } of segments) at += length
  }
  return all
}
