import type { Hunk } from '../diff/diff.ts'

/**
 * Maximum number of lookups in one replacement, for all its texts together. Beyond this number, a character
 * that may form a cluster with its neighbor is treated as part of a cluster.
 */
const lookupsMax = 10_000

/**
 * Maximum number of UTF-16 units that are read before a position. The longest emoji sequences have about 35
 * units.
 */
const contextMax = 64

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Ranges above U+02FF whose characters form no clusters with each other or with characters below U+0300. */
const plainRanges: readonly (readonly [number, number])[] = [
  [0x0370, 0x0482], // Greek, Cyrillic
  [0x048a, 0x0590], // Cyrillic, Armenian
  [0x2010, 0x2027], // dashes, quotation marks
  [0x3041, 0x3096], // Hiragana
  [0x30a1, 0x30fa], // Katakana
  [0x4e00, 0x9fff], // CJK
]

const isPlain = (unit: number): boolean =>
  unit < 0x300 || plainRanges.some(([from, to]) => unit >= from && unit <= to)

const separator = /^[\s\p{P}]$/u
const letter = /^[\p{L}\p{N}]$/u

/**
 * Returns whether a white space or punctuation character at a boundary decides that there is a cluster on each
 * side. So a limit of lookups never reaches beyond a word. Format characters and U+0D4E begin clusters, and
 * halves of pairs need a lookup.
 */
function isEdgeOfWord(before: string, next: string): boolean {
  if (separator.test(next))
    return !/^[\p{Cf}\p{Cs}\u0d4e]$/u.test(before) && (before !== '\r' || next !== '\n')
  return separator.test(before) && letter.test(next)
}

/**
 * Checks whether a user-perceived character ends at a position. The number of expensive lookups is limited.
 */
export class Graphemes {
  #lookups = 0

  /** Returns false if splitting `text` at `at` would split a grapheme cluster, or if this is uncertain. */
  isBoundary(text: string, at: number): boolean {
    if (at <= 0 || at >= text.length) return true
    const [before, next] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
    if (isPlain(before) && isPlain(next)) return before !== 13 || next !== 10
    if ((next & 0xfc00) === 0xdc00 && (before & 0xfc00) === 0xd800) return false
    if (isEdgeOfWord(text.charAt(at - 1), text.charAt(at))) return true
    if (this.#lookups >= lookupsMax) return false
    this.#lookups += 1
    return isSegmentBoundary(text, at)
  }
}

function isSegmentBoundary(text: string, at: number): boolean {
  const start = contextStart(text, at)
  const context = text.slice(start, at + ((text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1))
  return segmenter.segment(context).containing(at - start)?.index === at - start
}

/**
 * Returns the offset at which the context of `at` starts. This is the last ASCII character before `at`,
 * because earlier characters do not matter, or the offset that `contextMax` allows.
 */
function contextStart(text: string, at: number): number {
  const limit = Math.max(0, at - contextMax)
  let start = at - 1
  while (start > limit && text.charCodeAt(start) >= 0x80) start -= 1
  return (text.charCodeAt(start) & 0xfc00) === 0xdc00 && start > 0 ? start - 1 : start
}

/**
 * Widens hunks until none starts or ends inside a grapheme cluster of either text. Joins hunks that touch
 * afterwards.
 */
export function snapToGraphemes(
  a: string,
  b: string,
  hunks: readonly Hunk[],
  graphemes = new Graphemes(),
): Hunk[] {
  const whole = (x: number, y: number): boolean =>
    !followsHighSurrogate(a, x) && graphemes.isBoundary(a, x) && graphemes.isBoundary(b, y)
  const snapped: Hunk[] = []
  let index = 0
  for (let hunk = hunks[index++]; hunk !== undefined; hunk = hunks[index++]) {
    let { aStart, aEnd, bStart, bEnd } = hunk
    const before = snapped.at(-1)
    while (aStart > (before?.aEnd ?? 0) && !whole(aStart, bStart)) [aStart, bStart] = [aStart - 1, bStart - 1]
    if (before !== undefined && aStart <= before.aEnd) {
      snapped.pop()
      ;[aStart, bStart] = [before.aStart, before.bStart]
    }
    while (aEnd < a.length && !whole(aEnd, bEnd)) {
      const next = hunks[index]
      if (next !== undefined && next.aStart <= aEnd) {
        ;[aEnd, bEnd] = [Math.max(aEnd, next.aEnd), next.bEnd]
        index += 1
      } else [aEnd, bEnd] = [aEnd + 1, bEnd + 1]
    }
    snapped.push({ aStart, aEnd, bStart, bEnd })
  }
  return snapped
}

/**
 * Returns whether the character before `at` is a high surrogate. Yjs cannot split an item there: it treats
 * the units on both sides as halves of a pair and overwrites both. At the end of a hunk, only an unpaired
 * half can occur; the unit after it must then also be rewritten.
 */
const followsHighSurrogate = (text: string, at: number): boolean =>
  (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
