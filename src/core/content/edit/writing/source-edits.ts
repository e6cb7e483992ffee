import { equalityDeep } from 'lib0/function'
import * as Y from 'yjs'
import type { Hunk } from '../../diff/diff.ts'
import { toJson } from '../../json/json.ts'
import { editsToDelta } from '../../text/edits-to-delta.ts'
import { TextChange, type TextOperation } from '../../text/operations.ts'
import { type AttributeRun, type PlainTextState, runIndexAtOffset } from '../../text/text-state.ts'
import { cleanupFormatting } from '../../yjs/cleanup-formatting.ts'
import { indexAtOffset, type TextSource } from '../targets/flow-view.ts'

/** Numbers of inserted and deleted UTF-16 units and values. */
export interface WrittenCounts {
  readonly insertions: number
  readonly deletions: number
}

/** Budget for the cleanup of formatting after one edit. It takes some tens of milliseconds. */
const tidiedMax = 1_000_000

/**
 * Maximum number of ranges that one `mark` formats separately, so that line breaks stay without formatting.
 * Each range costs two formatting marks.
 */
const markedRangesMax = 5_000

/** Returns the part of a state between two offsets. */
export function sliceState(state: PlainTextState, start: number, end: number): PlainTextState {
  const runs: AttributeRun[] = []
  for (let index = runIndexAtOffset(state.runs, start); index < state.runs.length; index++) {
    const run = state.runs[index] as AttributeRun
    if (run.start >= end && runs.length > 0) break
    runs.push({ ...run, start: Math.max(0, run.start - start) })
  }
  const embeds = state.embeds.filter(({ at }) => at > start && at < end)
  return {
    text: state.text.slice(start, end),
    runs,
    embeds: embeds.map((embed) => ({ ...embed, at: embed.at - start })),
    items: state.items,
  }
}

/**
 * Changes a shared text by edits. Offsets of the original text refer to its string, and offsets of the new
 * text refer to `inserted`. The text must not become empty by this in the sense of a replacement: embeds at
 * the ends of an edit stay.
 */
export function writeHunks(
  { type, state }: TextSource,
  inserted: string,
  hunks: readonly Hunk[],
): WrittenCounts {
  if (hunks.length === 0) return { insertions: 0, deletions: 0 }
  // A target without characters would also delete the embeds at its ends.
  const target = inserted === '' ? ' ' : inserted
  const { operations, insertions, deletions } = editsToDelta(state, target, hunks)
  writeOperations(type, operations)
  return { insertions, deletions }
}

/** Applies operations to a shared text of any type, and removes formatting marks without effect. */
export function writeOperations(type: TextSource['type'], operations: readonly object[]): void {
  Y.Text.prototype.applyDelta.call(type, [...operations])
  cleanupFormatting(type, { tidyLeft: tidiedMax })
}

/** A change of one formatting attribute; the value null removes it. */
export interface Marking {
  readonly name: string
  readonly value: unknown
}

/** A range of the string of a text: its start and its end. */
type Offsets = readonly [start: number, end: number]

/**
 * Returns the operations that set formatting attributes in ranges, except where the text already has these
 * values; none if nothing changes. Line breaks get no formatting if `skipsBreaks` is true.
 * @param ranges disjoint ranges in ascending order; embeds between two ranges get no formatting
 */
export function markingOperations(
  state: PlainTextState,
  ranges: readonly Offsets[],
  markings: readonly Marking[],
  skipsBreaks: boolean,
): readonly TextOperation[] {
  const change = new TextChange()
  let at = 0
  for (const range of rangesToMark(state, ranges, markings, skipsBreaks)) {
    const from = indexAtOffset(state, range.start, true)
    const to = indexAtOffset(state, range.end, false)
    change.retain(from - at).retain(to - from, range.change)
    at = to
  }
  return change.operations
}

interface MarkedRange {
  readonly start: number
  end: number
  readonly change: Record<string, unknown>
}

function rangesToMark(
  state: PlainTextState,
  ranges: readonly Offsets[],
  markings: readonly Marking[],
  skipsBreaks: boolean,
): readonly MarkedRange[] {
  const marked: MarkedRange[][] = ranges.map(() => [])
  const current = new Map<string, unknown>()
  let [first, count] = [0, 0]
  for (const [index, { start: runStart, changes }] of state.runs.entries()) {
    for (const [key, value] of changes) current.set(key, value)
    const runEnd = state.runs[index + 1]?.start ?? state.text.length
    while (first < ranges.length && (ranges[first] as Offsets)[1] <= runStart) first += 1
    if (first === ranges.length) break
    const changed = markings.filter(({ name, value }) => !isSame(current.get(name), value))
    if (changed.length === 0) continue
    const change = Object.fromEntries(changed.map(({ name, value }) => [name, value]))
    for (let next = first; next < ranges.length; next++) {
      const [start, end] = ranges[next] as Offsets
      if (start >= runEnd) break
      const [from, to] = [Math.max(start, runStart), Math.min(end, runEnd)]
      if (from >= to) continue
      const parts = skipsBreaks && count < markedRangesMax ? linesIn(state.text, from, to) : null
      for (const [partStart, partEnd] of parts ?? [[from, to] as const])
        count += addRange(marked[next] as MarkedRange[], { start: partStart, end: partEnd, change })
    }
  }
  return marked.flat()
}

/**
 * Adds a range. Joins it with the range before it if both are adjacent and have the same change. Returns the
 * number of added ranges.
 */
function addRange(ranges: MarkedRange[], { start, end, change }: MarkedRange): number {
  const last = ranges.at(-1)
  const isAdjacent = last !== undefined && last.end === start
  if (isAdjacent && Object.keys(last.change).join('\n') === Object.keys(change).join('\n')) {
    last.end = end
    return 0
  }
  ranges.push({ start, end, change })
  return 1
}

const isSame = (stored: unknown, value: unknown): boolean =>
  equalityDeep(toJson(stored ?? null) ?? null, value ?? null)

/** Returns the ranges between line breaks; null if there are too many. */
function linesIn(text: string, from: number, to: number): (readonly [number, number])[] | null {
  const ranges: (readonly [number, number])[] = []
  for (let at = from; at < to; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 || found > to ? to : found
    if (end > at) ranges.push([at, end])
    if (ranges.length > markedRangesMax) return null
    at = end + 1
  }
  return ranges
}
