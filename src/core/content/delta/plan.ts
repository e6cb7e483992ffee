import type { Hunk } from '../diff/diff.ts'
import { alignToBoundaries, mergeTouching, mergeWhere } from '../diff/merge-hunks.ts'
import { diffText } from '../diff/text-diff.ts'
import { snapToGraphemes } from '../text/graphemes.ts'
import { atMost, editsMaxFor, isSeparator, stepsMax } from '../text/plan.ts'
import type { FormatTable, FormattedTarget, FormattedText, FormattedTextState } from './formatted-text.ts'
import { DeltaOperationBuilder } from './operation-builder.ts'

/** Maximum number of formatting marks for the ranges that are inserted into formatted text. */
const marksMax = 200_000

/**
 * Returns the operations that turn the stored text into the target. If there would be too many operations,
 * the whole target is inserted before the old text, at a position without active attributes.
 */
export function planDelta(
  stored: FormattedTextState,
  target: FormattedTarget,
  formats: FormatTable,
): DeltaOperationBuilder {
  const { content, items, complete } = stored
  if (!complete) return allAnew(stored, target, formats)
  const editsMax = editsMaxFor(items)
  const change = new DeltaOperationBuilder(stored, target, formats)
  change.apply(atMost(editsMax, hunksIn(content, target, editsMax)))
  const attributesMax = mostAttributes(content, formats)
  const affordable = change.edits <= editsMax * 2 && change.edits * attributesMax <= marksMax
  return affordable ? change : allAnew(stored, target, formats)
}

const mostAttributes = ({ runs }: FormattedText, formats: FormatTable): number =>
  runs.reduce((most, { format }) => Math.max(most, formats.get(format).stored.size), 0)

function allAnew(
  stored: FormattedTextState,
  target: FormattedTarget,
  formats: FormatTable,
): DeltaOperationBuilder {
  const change = new DeltaOperationBuilder(stored, target, formats)
  change.apply([{ aStart: 0, aEnd: stored.content.text.length, bStart: 0, bEnd: target.text.length }])
  return change
}

/** Returns the edits in the range that differs. */
function hunksIn(source: FormattedText, target: FormattedTarget, editsMax: number): Hunk[] {
  const { changed } = target
  if (changed === undefined) return hunksBetween(source.text, target.text, editsMax)
  const { start, end, targetEnd } = changed
  const found = hunksBetween(source.text.slice(start, end), target.text.slice(start, targetEnd), editsMax)
  return found.map(({ aStart, aEnd, bStart, bEnd }) => ({
    aStart: aStart + start,
    aEnd: aEnd + start,
    bStart: bStart + start,
    bEnd: bEnd + start,
  }))
}

function hunksBetween(source: string, target: string, editsMax: number): Hunk[] {
  const found = diffText(source, target, { steps: stepsMax }, editsMax)
  // An embed is an unpaired surrogate, which is no separator, so it keeps its identity.
  const swallowed = mergeWhere(found, (before, after) => isSeparator(source.slice(before.aEnd, after.aStart)))
  return snapToGraphemes(source, target, mergeTouching(alignToBoundaries(source, target, swallowed)))
}
