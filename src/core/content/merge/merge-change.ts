import * as Y from 'yjs'
import { deletedRanges } from '../../update/deletions.ts'
import { disjoint, type IdRange, RangeIndex } from '../../update/range-index.ts'
import type { EditDependency, EditedContent } from '../edit/edit.ts'
import { checkMerge, DeletedTargetError } from '../merge-check.ts'
import { isEdits, matchingSchema, mergeTargetOf, type RootChange } from '../root-change.ts'
import { noReplacement } from '../yjs/root-replacement.ts'
import { type MergeOutcome, mergeUpdate } from './merge-update.ts'
import type { MergeInput } from './merge-versions.ts'
import { keptSide, type OverlapPolicy, type OverlapReport, overlapError, reportOf } from './overlap.ts'

/** The result of a change that may have been merged. */
export interface MergedContent extends EditedContent {
  /** Places that others have changed, too, and their number if there are more; absent if there are none. */
  readonly overlaps?: OverlapReport['overlaps']
  readonly overlapCount?: number
}

/** A change that was made for an older version. */
interface BasedChange {
  readonly change: RootChange
  readonly result: EditedContent
  readonly onOverlap: OverlapPolicy
}

/** Thrown if a merge has no effect, so that what it has written must be discarded. */
export class NothingMergedError extends Error {
  readonly result: MergedContent

  constructor(result: MergedContent) {
    super('the merge has no effect')
    this.result = result
  }
}

/**
 * Merges a change that was made for an older version into a document. If it throws, the document must be discarded.
 * @param doc the document with the state `input.theirs`
 * @throws ApiError as for `checkMerge`; ABORTED if there are overlaps and `onOverlap` is `fail`; INVALID_ARGUMENT if the
 * merged content breaks the schema where the document did not; NothingMergedError
 */
export function mergeChange(doc: Y.Doc, input: MergeInput, based: BasedChange): MergedContent {
  const { change, result } = based
  const work = (): MergedContent => mergeUnchecked(doc, input, based)
  if (change.schema === undefined) return work()
  return matchingSchema(doc, result.contentKey ?? change.contentKey, change.schema, work, true)
}

function mergeUnchecked(
  doc: Y.Doc,
  input: MergeInput,
  { change, result, onOverlap }: BasedChange,
): MergedContent {
  const deleted = deletedTarget(doc, change, result)
  const isDone = deleted === 'none is needed'
  const kept = keptSide(onOverlap, !isEdits(change))
  const outcome = mergeUpdate(doc, input, { kept, repeatsInsertions: isEdits(change) && !isDone })
  if (isDone && !isErasing(outcome, result)) throw new NothingMergedError(withoutEffect(result))
  if (!isDone && deleted !== null && !isChosen(outcome, onOverlap)) throw deleted
  if (outcome.overlaps.length === 0 && outcome.changed) return result
  const report = reportOf(outcome.overlaps)
  if (outcome.overlaps.length === 0) throw new NothingMergedError(withoutEffect(result))
  if (onOverlap === 'fail') throw overlapError(report)
  if (!outcome.changed) throw new NothingMergedError({ ...withoutEffect(result), ...report })
  return { ...withoutLost(result, outcome, input), ...report }
}

/** Returns the result of a change that the document already has. */
const withoutEffect = (result: EditedContent): EditedContent => ({
  ...result,
  ...noReplacement,
  ...(result.edits && { edits: result.edits.map((edit) => ({ ...edit, ...noReplacement })) }),
})

/**
 * Returns whether a change deletes content that others have replaced. The document does not have the base content and
 * the insertions of the change then, but it has other content instead.
 */
function isErasing({ isRewritten, places }: MergeOutcome, { dependencies }: EditedContent): boolean {
  const created = RangeIndex.of((dependencies?.edits ?? []).map((edit) => edit.created))
  return isRewritten && places.some((ids) => ids.length > 0 && !ids.some((range) => hasPart(created, range)))
}

/** Marks the edits that have lost completely. */
function withoutLost(
  result: EditedContent,
  { lost, overlaps }: MergeOutcome,
  { theirs }: MergeInput,
): EditedContent {
  const { edits, dependencies } = result
  if (edits === undefined || dependencies === undefined) return result
  const ids = RangeIndex.of(lost)
  const gone = RangeIndex.of(disjoint([...lost, ...deletedRanges(Y.decodeUpdate(theirs).ds)]))
  const isMine = overlaps[0]?.kept === 'mine'
  const hasEffect = ({ created, deleted }: EditDependency): boolean =>
    lacksPart(ids, created) || deleted.some((range) => isMine || lacksPart(gone, range))
  return {
    ...result,
    edits: edits.map((edit, at) => {
      const depending = dependencies.edits[at]
      return depending === undefined || hasEffect(depending) ? edit : { ...edit, ...noReplacement }
    }),
  }
}

const hasPart = (index: RangeIndex<IdRange>, ids: IdRange): boolean =>
  [...index.parts(ids)].some(({ range }) => range !== null)

const lacksPart = (index: RangeIndex<IdRange>, ids: IdRange): boolean =>
  [...index.parts(ids)].some(({ range }) => range === null)

/** Checks the targets of edits. Returns the error of a deleted target, which can be an overlap; null if none is. */
function deletedTarget(
  doc: Y.Doc,
  change: RootChange,
  result: EditedContent,
): DeletedTargetError | 'none is needed' | null {
  try {
    return checkMerge(doc, mergeTargetOf(change, result)) ? null : 'none is needed'
  } catch (error) {
    if (error instanceof DeletedTargetError) return error
    throw error
  }
}

/**
 * Returns whether the overlaps replace the error of a deleted target: others have written something in its place, or
 * the caller has chosen a side.
 */
const isChosen = ({ overlaps, isRewritten }: MergeOutcome, onOverlap: OverlapPolicy): boolean =>
  overlaps.length > 0 && (isRewritten || onOverlap === 'keepMine' || onOverlap === 'keepTheirs')
