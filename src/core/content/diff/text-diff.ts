import { diffTokens, type Hunk, shifted } from './diff.ts'
import type { DiffBudget } from './myers.ts'
import {
  betweenCodePoints,
  codePoints,
  isWord,
  lines,
  startsLine,
  TokenInterner,
  type TokenizedText,
  type Tokenizer,
  tokenStart,
  words,
} from './tokenizers.ts'

/**
 * Returns the differences between two texts as `diffTokens` does, but keeps as many words as possible before it keeps
 * any other token. Otherwise spaces between other words would count as much as a word.
 */
function diffWords(a: TokenizedText, b: TokenizedText, budget: DiffBudget): Hunk[] {
  const [x, y] = [wordsOf(a), wordsOf(b)]
  const hunks: Hunk[] = []
  let [aStart, bStart] = [0, 0]
  const compareUntil = (aEnd: number, bEnd: number): void => {
    if (!isSame(a.tokens, aStart, aEnd, b.tokens, bStart, bEnd)) {
      const between = diffTokens(a.tokens.subarray(aStart, aEnd), b.tokens.subarray(bStart, bEnd), budget)
      for (const hunk of between) hunks.push(shifted(hunk, aStart, bStart))
    }
    ;[aStart, bStart] = [aEnd + 1, bEnd + 1]
  }
  let [i, j] = [0, 0]
  const keepUntil = (end: number): void => {
    for (; i < end; i++, j++) compareUntil(x.at[i] as number, y.at[j] as number)
  }
  for (const { aStart, aEnd, bEnd } of diffTokens(x.tokens, y.tokens, budget)) {
    keepUntil(aStart)
    ;[i, j] = [aEnd, bEnd]
  }
  keepUntil(x.at.length)
  compareUntil(a.tokens.length, b.tokens.length)
  return hunks
}

/** Returns the tokens that are words, and their indexes. */
function wordsOf(side: TokenizedText): { readonly at: Int32Array; readonly tokens: Int32Array } {
  const at = Int32Array.from(side.tokens.keys()).filter((index) => isWord(side.text, tokenStart(side, index)))
  return { at, tokens: at.map((index) => side.tokens[index] as number) }
}

function isSame(
  a: Int32Array,
  aStart: number,
  aEnd: number,
  b: Int32Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false
  for (let at = aStart; at < aEnd; at++) if (a[at] !== b[at - aStart + bStart]) return false
  return true
}

/** Maximum length in UTF-16 units of each side of a replaced range that is compared by code points. */
const fineLengthMax = 400

/**
 * Number of steps that each comparison costs regardless of its size. It stands for about a dozen allocations.
 */
const comparisonSteps = 50

/**
 * Returns the edits from `a` to `b` in order, in UTF-16 offsets. Compares by lines, then the changed lines by
 * words, of which it keeps as many as possible, then short changed words by code points. The letters of two unrelated words must not be mixed.
 * Therefore, several edits inside words are used only if at least half of both sides together stays, and a
 * single edit only if at least half of the shorter side stays. If a step finds more than `editsMax` edits, the
 * finer steps are skipped, because the edits must be joined in any case.
 */
export function diffText(a: string, b: string, budget: DiffBudget, editsMax: number): Hunk[] {
  const whole = withoutCommonLines(a, b)
  const comparison: Comparison = { a, b, interner: new TokenInterner(), budget }
  const byLine = refine(comparison, whole, lines)
  if (byLine.length > editsMax) return byLine
  const byWord = byLine.flatMap((hunk) =>
    replaces(hunk) ? refine(comparison, hunk, words, diffWords) : [hunk],
  )
  if (byWord.length > editsMax) return byWord
  return byWord.flatMap((hunk) => (replaces(hunk) ? finest(comparison, hunk) : [hunk]))
}

/**
 * Returns the range that remains without the common lines at the start and at the end. These lines need not
 * be split into tokens, because most changes of a long text are in few lines.
 */
function withoutCommonLines(a: string, b: string): Hunk {
  const limit = Math.min(a.length, b.length)
  let start = 0
  while (start < limit && a.charCodeAt(start) === b.charCodeAt(start)) start += 1
  while (!startsLine(a, start)) start -= 1
  let end = 0
  while (end < limit - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end))
    end += 1
  while (end > 0 && !(startsLine(a, a.length - end) && startsLine(b, b.length - end))) end -= 1
  return { aStart: start, aEnd: a.length - end, bStart: start, bEnd: b.length - end }
}

interface Comparison {
  readonly a: string
  readonly b: string
  readonly interner: TokenInterner
  readonly budget: DiffBudget
}

const replaces = (hunk: Hunk): boolean => hunk.aEnd > hunk.aStart && hunk.bEnd > hunk.bStart

function refine(
  { a, b, interner, budget }: Comparison,
  hunk: Hunk,
  tokenize: Tokenizer,
  diff: typeof diffWords = (x, y) => diffTokens(x.tokens, y.tokens, budget),
): Hunk[] {
  if (budget.steps <= 0) return [hunk]
  budget.steps -= comparisonSteps
  const side = (text: string, start: number, end: number): TokenizedText => {
    const ends = tokenize(text, start, end)
    return { text, start, ends, tokens: interner.number(text, start, ends) }
  }
  const [x, y] = [side(a, hunk.aStart, hunk.aEnd), side(b, hunk.bStart, hunk.bEnd)]
  return diff(x, y, budget).map(({ aStart, aEnd, bStart, bEnd }) => ({
    aStart: tokenStart(x, aStart),
    aEnd: tokenStart(x, aEnd),
    bStart: tokenStart(y, bStart),
    bEnd: tokenStart(y, bEnd),
  }))
}

function finest(comparison: Comparison, hunk: Hunk): Hunk[] {
  const [deleted, inserted] = [hunk.aEnd - hunk.aStart, hunk.bEnd - hunk.bStart]
  if (Math.max(deleted, inserted) > fineLengthMax) return [withoutCommonEnds(comparison, hunk)]
  const finer = refine(comparison, hunk, codePoints)
  const kept = deleted - finer.reduce((sum, { aStart, aEnd }) => sum + aEnd - aStart, 0)
  const isRelated =
    finer.length > 1 ? kept * 4 >= deleted + inserted : kept * 2 >= Math.min(deleted, inserted)
  return isRelated ? finer : [hunk]
}

function withoutCommonEnds({ a, b }: Comparison, { aStart, aEnd, bStart, bEnd }: Hunk): Hunk {
  while (aStart < aEnd && bStart < bEnd && a.charCodeAt(aStart) === b.charCodeAt(bStart)) {
    aStart += 1
    bStart += 1
  }
  if (!betweenCodePoints(a, aStart) || !betweenCodePoints(b, bStart)) {
    aStart -= 1
    bStart -= 1
  }
  while (aStart < aEnd && bStart < bEnd && a.charCodeAt(aEnd - 1) === b.charCodeAt(bEnd - 1)) {
    aEnd -= 1
    bEnd -= 1
  }
  if (!betweenCodePoints(a, aEnd) || !betweenCodePoints(b, bEnd)) {
    aEnd += 1
    bEnd += 1
  }
  return { aStart, aEnd, bStart, bEnd }
}
