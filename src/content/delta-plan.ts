import { DeltaChange } from './delta-change.ts'
import type { Formats, FormattedText, StoredText } from './delta-state.ts'
import type { Hunk } from './diff.ts'
import { editsBetween } from './edits.ts'
import { snapToGraphemes } from './text-graphemes.ts'
import { atMost, editsMaxFor, stepsMax, swallowedLengthMax } from './text-plan.ts'
import { joinTouching, joinWhere, slideAll } from './tidy-edits.ts'

/** Formatting marks that inserted stretches may cost inside of formatted text. */
const marksMax = 200_000

/**
 * What turns the stored text into the target. Where that takes too many operations, everything is written anew: before
 * what there was, where no attribute is on.
 */
export function planDelta(stored: StoredText, target: FormattedText, formats: Formats): DeltaChange {
  const { content, items, complete } = stored
  if (!complete) return allAnew(stored, target, formats)
  const editsMax = editsMaxFor(items)
  const change = new DeltaChange(stored, target, formats)
  change.apply(atMost(editsMax, hunksBetween(content, target, editsMax)))
  const attributesMax = mostAttributes(content, formats)
  const affordable = change.edits <= editsMax * 2 && change.edits * attributesMax <= marksMax
  return affordable ? change : allAnew(stored, target, formats)
}

const mostAttributes = ({ runs }: FormattedText, formats: Formats): number =>
  runs.reduce((most, { format }) => Math.max(most, formats.get(format).stored.size), 0)

function allAnew(stored: StoredText, target: FormattedText, formats: Formats): DeltaChange {
  const change = new DeltaChange(stored, target, formats)
  change.apply([{ aStart: 0, aEnd: stored.content.text.length, bStart: 0, bEnd: target.text.length }])
  return change
}

function hunksBetween(source: FormattedText, target: FormattedText, editsMax: number): Hunk[] {
  const found = editsBetween(source.text, target.text, { steps: stepsMax }, editsMax)
  const swallowed = joinWhere(found, (before, after) => {
    if (after.aStart - before.aEnd > swallowedLengthMax) return false
    // An embed between two edits keeps its identity.
    return source.text.slice(before.aEnd, after.aStart).isWellFormed()
  })
  return snapToGraphemes(
    source.text,
    target.text,
    joinTouching(slideAll(source.text, target.text, swallowed)),
  )
}
