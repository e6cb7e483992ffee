import { DeltaChange } from './delta-change.ts'
import type { Formats, FormattedText, StoredText } from './delta-state.ts'
import type { Hunk } from './diff.ts'
import { editsBetween } from './edits.ts'
import { snapToGraphemes } from './text-graphemes.ts'
import { atMost, editsMaxFor, stepsMax, swallowedLengthMax } from './text-plan.ts'
import { joinTouching, joinWhere, slideAll } from './tidy-edits.ts'

/** Formatting marks that inserted stretches may cost inside of formatted text. */
const marksMax = 200_000

/** Items that formatting may be tidied up in, times the attributes that are on at once: Yjs copies these for each. */
const tidiedMax = 5_000_000

export interface DeltaPlan {
  readonly change: DeltaChange
  /** False where looking for formatting marks without effect would take too long. */
  readonly tidy: boolean
}

/**
 * What turns the stored text into the target. Where that takes too many operations, everything is written anew: before
 * what there was, where no attribute is on.
 */
export function planDelta(stored: StoredText, target: FormattedText, formats: Formats): DeltaPlan {
  const { content, items, complete } = stored
  if (!complete) return { change: allAnew(stored, target, formats), tidy: false }
  const editsMax = editsMaxFor(items)
  const change = new DeltaChange(stored, target, formats)
  change.apply(atMost(editsMax, hunksBetween(content, target, editsMax)))
  const attributesMax = mostAttributes(content, formats)
  const tidy = (items + change.edits) * (1 + attributesMax + mostAttributes(target, formats)) <= tidiedMax
  const affordable = change.edits <= editsMax * 2 && change.edits * attributesMax <= marksMax
  return { change: affordable ? change : allAnew(stored, target, formats), tidy }
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
