import { diffTokens, type Hunk } from './diff.ts'
import type { Budget } from './myers.ts'
import { betweenCodePoints, codePoints, intern, lines, type Tokenizer, words } from './text-tokens.ts'

/** Longest side of a replaced stretch that is compared code point by code point, in UTF-16 units. */
const fineLengthMax = 400

/**
 * What turns `a` into `b`, in UTF-16 offsets, in order: by lines, inside changed lines by words, inside short changed
 * words by code points where at least half of the shorter side is kept (else two unrelated words would be interleaved).
 */
export function editsBetween(a: string, b: string, budget: Budget): Hunk[] {
  const whole: Hunk = { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }
  const byLine = refine(a, b, whole, lines, budget)
  const byWord = byLine.flatMap((hunk) => (replaces(hunk) ? refine(a, b, hunk, words, budget) : [hunk]))
  return byWord.flatMap((hunk) => (replaces(hunk) ? finest(a, b, hunk, budget) : [hunk]))
}

const replaces = (hunk: Hunk): boolean => hunk.aEnd > hunk.aStart && hunk.bEnd > hunk.bStart

function refine(a: string, b: string, hunk: Hunk, tokenize: Tokenizer, budget: Budget): Hunk[] {
  if (budget.steps <= 0) return [hunk]
  const aEnds = tokenize(a, hunk.aStart, hunk.aEnd)
  const bEnds = tokenize(b, hunk.bStart, hunk.bEnd)
  const numbers = new Map<string, number>()
  const aTokens = intern(a, hunk.aStart, aEnds, numbers)
  const bTokens = intern(b, hunk.bStart, bEnds, numbers)
  return diffTokens(aTokens, bTokens, budget).map(({ aStart, aEnd, bStart, bEnd }) => ({
    aStart: offset(aEnds, hunk.aStart, aStart),
    aEnd: offset(aEnds, hunk.aStart, aEnd),
    bStart: offset(bEnds, hunk.bStart, bStart),
    bEnd: offset(bEnds, hunk.bStart, bEnd),
  }))
}

/** Where the token number `index` starts. */
const offset = (ends: readonly number[], start: number, index: number): number => ends[index - 1] ?? start

function finest(a: string, b: string, hunk: Hunk, budget: Budget): Hunk[] {
  const [deleted, inserted] = [hunk.aEnd - hunk.aStart, hunk.bEnd - hunk.bStart]
  if (Math.max(deleted, inserted) > fineLengthMax) return [withoutCommonEnds(a, b, hunk)]
  const finer = refine(a, b, hunk, codePoints, budget)
  const kept = deleted - finer.reduce((sum, { aStart, aEnd }) => sum + aEnd - aStart, 0)
  return kept * 2 >= Math.min(deleted, inserted) ? finer : [hunk]
}

function withoutCommonEnds(a: string, b: string, { aStart, aEnd, bStart, bEnd }: Hunk): Hunk {
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
