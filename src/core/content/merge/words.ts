/** A range of UTF-16 units of a text. `end` is exclusive. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

/**
 * Units that have a meaning only as a whole: URLs and addresses of e-mail, numbers with their separators, signs and
 * currencies, and words with their marks, apostrophes and hyphens.
 */
const wholePattern = new RegExp(
  [
    // The lengths are limited, because a search from each position of a long text would take quadratic time.
    String.raw`[\p{L}][\p{L}\p{N}+.\-]{0,30}:\/\/[^\s<>"“”]+`,
    String.raw`[\p{L}\p{N}._%+\-]{1,64}@[\p{L}\p{N}\-]{1,63}(?:\.[\p{L}\p{N}\-]{1,63}){1,10}`,
    String.raw`[\p{Sc}#+\-−±]{0,4}[\p{L}\p{M}\p{N}\p{Pc}]+` +
      String.raw`(?:(?:['’ʼ·\-‐‑]|(?<=\p{N})[.,:\/\u00a0\u202f](?=\p{N}))[\p{L}\p{M}\p{N}\p{Pc}]+)*[\p{Sc}%‰°]*`,
  ].join('|'),
  'gu',
)

/** Scripts that are written without spaces between words. */
const unspacedPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Characters that can be parts of a larger user-perceived character. */
const composedPattern = /[^\p{ASCII}\p{L}\p{N}\p{P}]|\p{M}|\r/u

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })
const graphemeSegmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Returns the words of a text: the ranges that a merge never composes from parts of two texts. Ranges can overlap.
 * Ranges of one unit are left out if `text` has no other character next to them in the same word.
 */
export function* wordsIn(text: string): Generator<TextSpan> {
  for (const { 0: word, index } of text.matchAll(wholePattern)) {
    if (!unspacedPattern.test(word)) yield { start: index, end: index + word.length }
    else
      for (const { segment, index: at } of wordSegmenter.segment(word))
        yield { start: index + at, end: index + at + segment.length }
  }
  if (!composedPattern.test(text)) return
  for (const { segment, index } of graphemeSegmenter.segment(text))
    if (segment.length > 1) yield { start: index, end: index + segment.length }
}

/** Returns whether no word of letters and digits contains both the unit before `at` and the unit at `at`. */
export const startsPart = (text: string, at: number): boolean =>
  [text.charAt(at - 1), text.charAt(at)].some(
    (unit) => !letterPattern.test(unit) || unspacedPattern.test(unit),
  )

const letterPattern = /[\p{L}\p{M}\p{N}\p{Pc}]/u

/** Returns the words of a text as strings. */
export const wordTexts = (text: string): ReadonlySet<string> =>
  new Set([...wordsIn(text)].map(({ start, end }) => text.slice(start, end)))
