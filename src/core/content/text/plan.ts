import { firstIndex } from '../../base/search.ts'
import type { Hunk } from '../diff/diff.ts'
import { alignToBoundaries, mergeTouching, mergeWhere } from '../diff/merge-hunks.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { diffText } from '../diff/text-diff.ts'
import { Graphemes, snapToGraphemes } from './graphemes.ts'
import { type Embed, type PlainTextState, runIndexAtOffset } from './text-state.ts'

/** Maximum number of comparison steps of one replacement, which take some tens of milliseconds. */
export const stepsMax = 6_000_000

/**
 * Maximum length in UTF-16 units of white space and punctuation between two edits that are rewritten with
 * them. So a new sentence is one insertion, and two writers of one sentence do not mix their words.
 */
const separatorMax = 7

/**
 * Returns whether the equal text between two edits may be rewritten. Text with any other character stays,
 * whatever bytes that costs: it may contain cursors and typing of other users, and text that an undo returns
 * to.
 */
export const isSeparator = (between: string): boolean =>
  between.length <= separatorMax && /^[\s\p{P}]*$/u.test(between)

/**
 * Limits for the number of edits in one replacement; beyond them, adjacent edits are joined. For each edit,
 * Yjs spends about 0.85 ns for each item of the text (measured with 13.6.33), so the limit decreases with the
 * number of items. Each edit may also cost one mark for each attribute.
 */
const edits = { most: 10_000, least: 500, timesItems: 60_000_000, timesAttributes: 200_000 } as const

/**
 * Returns at most `editsMax` edits, in order. They are never adjacent, and no edit starts or ends inside a
 * grapheme cluster.
 */
export function planEdits(
  state: PlainTextState,
  target: string,
  budget: DiffBudget,
  graphemes = new Graphemes(),
  editsMax = editsMaxFor(state.items),
): Hunk[] {
  const source = state.text
  const most = Math.max(1, Math.min(editsMax, attributesAllow(state)))
  const found = diffText(source, target, budget, most)
  const swallowed = mergeWhere(found, (before, after) => worthRewriting(state, before, after))
  const slid = mergeTouching(alignToBoundaries(source, target, swallowed))
  return atMost(most, snapToGraphemes(source, target, slid, graphemes))
}

/** Remaining budget of one replacement for the edits of all its texts. */
export interface TextBudget {
  readonly budget: DiffBudget
  readonly graphemes: Graphemes
  /** Number of edits. */
  editsLeft: number
}

/**
 * Returns the edits of one of several texts. While the budget lasts, the edits are few and small; after that, one
 * edit replaces the whole text.
 */
export function planWithin(state: PlainTextState, target: string, effort: TextBudget): Hunk[] {
  if (state.text === target) return []
  const { budget, graphemes, editsLeft } = effort
  if (editsLeft <= 0) return [wholeHunk(state.text, target)]
  const hunks = planEdits(state, target, budget, graphemes, editsLeft)
  effort.editsLeft -= hunks.length
  return hunks
}

/** Returns the edit that replaces a whole text. */
export const wholeHunk = (text: string, target: string): Hunk => ({
  aStart: 0,
  aEnd: text.length,
  bStart: 0,
  bEnd: target.length,
})

/** Returns the maximum number of edits for a text with this many items. */
export const editsMaxFor = (items: number): number =>
  Math.max(edits.least, Math.min(edits.most, Math.floor(edits.timesItems / (items + 1))))

function attributesAllow({ runs }: PlainTextState): number {
  const attributes = runs.reduce((most, { size }) => Math.max(most, size), 0)
  return Math.floor(edits.timesAttributes / (attributes + 1))
}

/**
 * Returns whether the text between two edits can be rewritten without losing words, formatting or an embed.
 */
function worthRewriting(state: PlainTextState, before: Hunk, after: Hunk): boolean {
  if (!isSeparator(state.text.slice(before.aEnd, after.aStart))) return false
  // Also compares the characters on both sides, because their formatting determines the formatting of text
  // that is inserted between them.
  const run = runIndexAtOffset(state.runs, Math.max(0, before.aStart - 1))
  if (run !== runIndexAtOffset(state.runs, Math.min(after.aEnd, state.text.length - 1))) return false
  const plain = (state.runs[run]?.size ?? 0) === 0
  if (!plain && state.text.slice(before.aEnd, after.aStart).includes('\n')) return false
  return !holdsEmbed(state.embeds, before.aStart, after.aEnd)
}

/** Returns whether there is an embed strictly between two offsets. */
function holdsEmbed(embeds: readonly Embed[], from: number, to: number): boolean {
  const next = embeds[firstIndex(embeds.length, (index) => (embeds[index] as Embed).at > from)]
  return next !== undefined && next.at < to
}

/**
 * Joins adjacent edits until `max` edits remain. The edits with the shortest equal ranges between them are
 * joined first. If ranges are equally short, the edits around the earlier range are joined first.
 */
export function atMost(max: number, hunks: Hunk[]): Hunk[] {
  if (hunks.length <= max) return hunks
  const gaps = Float64Array.from(hunks.slice(1), (hunk, index) => hunk.aStart - (hunks[index] as Hunk).aEnd)
  const sorted = gaps.toSorted()
  const surplus = hunks.length - max
  const longest = sorted[surplus - 1] as number
  let ties = surplus - sorted.indexOf(longest)
  return mergeWhere(hunks, (before, after) => {
    const gap = after.aStart - before.aEnd
    if (gap === longest) ties -= 1
    return gap < longest || (gap === longest && ties >= 0)
  })
}
