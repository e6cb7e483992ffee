import { diffTokens, type Hunk } from './diff.ts'
import type { DiffBudget } from './myers.ts'
import { isWord, type TokenizedText, tokenStart } from './tokenizers.ts'

/**
 * Returns the differences between two texts as `diffTokens` does, but keeps as many words as possible before it keeps
 * any other token. Otherwise spaces between other words would count as much as a word.
 */
export function diffWords(a: TokenizedText, b: TokenizedText, budget: DiffBudget): Hunk[] {
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

const shifted = ({ aStart, aEnd, bStart, bEnd }: Hunk, a: number, b: number): Hunk => ({
  aStart: aStart + a,
  aEnd: aEnd + a,
  bStart: bStart + b,
  bEnd: bEnd + b,
})
