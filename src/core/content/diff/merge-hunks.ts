import { type Hunk, shifted } from './diff.ts'
import { betweenCodePoints, startsLine, startsWord } from './tokenizers.ts'

/** Joins hunks that touch or overlap. */
export const mergeTouching = (hunks: readonly Hunk[]): Hunk[] => mergeWhere(hunks, () => false)

/**
 * Joins two adjacent hunks, with the equal text between them, if the hunks touch or if `swallow` returns
 * true.
 */
export function mergeWhere(hunks: readonly Hunk[], swallow: (before: Hunk, after: Hunk) => boolean): Hunk[] {
  const joined: Hunk[] = []
  for (const hunk of hunks) {
    const last = joined.at(-1)
    if (last !== undefined && (hunk.aStart <= last.aEnd || swallow(last, hunk))) {
      joined[joined.length - 1] = { ...last, aEnd: hunk.aEnd, bEnd: hunk.bEnd }
    } else joined.push(hunk)
  }
  return joined
}

/**
 * Moves pure insertions and deletions along repeated text to the boundaries that a person would choose: whole
 * lines, otherwise the start of a word. Among equally good positions the last one is chosen, because people
 * write forward.
 */
export function alignToBoundaries(a: string, b: string, hunks: readonly Hunk[]): Hunk[] {
  const slid: Hunk[] = []
  for (const [index, hunk] of hunks.entries()) {
    const from = slid.at(-1)?.aEnd ?? 0
    const to = hunks[index + 1]?.aStart ?? a.length
    slid.push(slide(a, b, hunk, from, to))
  }
  return slid
}

function slide(a: string, b: string, hunk: Hunk, from: number, to: number): Hunk {
  const deletes = hunk.aEnd > hunk.aStart
  if (deletes && hunk.bEnd > hunk.bStart) return hunk
  const text = deletes ? a : b
  const [start, end] = deletes ? [hunk.aStart, hunk.aEnd] : [hunk.bStart, hunk.bEnd]
  let [back, ahead] = [0, 0]
  while (back < hunk.aStart - from && text[start - back - 1] === text[end - back - 1]) back += 1
  while (ahead < to - hunk.aEnd && text[start + ahead] === text[end + ahead]) ahead += 1
  let [best, bestRank] = [0, -1]
  for (let by = ahead; by >= -back; by--) {
    const rank = rankOf(text, start + by, end + by)
    if (rank > bestRank) [best, bestRank] = [by, rank]
    if (rank === rankMax) break
  }
  return shifted(hunk, best)
}

const rankMax = 3

/**
 * Returns a rank for the insertion or deletion of the text from `start` to `end`. A higher rank is more
 * natural: whole lines have the highest rank, followed by text from word to word.
 */
function rankOf(text: string, start: number, end: number): number {
  if (!betweenCodePoints(text, start) || !betweenCodePoints(text, end)) return -1
  if (startsLine(text, start) && (startsLine(text, end) || end === text.length)) return rankMax
  if (startsWord(text, start)) return 2
  return startsWord(text, end) || end === text.length ? 1 : 0
}
