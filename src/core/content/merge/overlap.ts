import { ApiError } from '../../base/errors.ts'
import { shortened } from '../../base/text.ts'
import { toJson } from '../json/json.ts'

/** One of the two sides of a merge: earlier changes of others, or the change that is merged. */
export type MergeSide = 'theirs' | 'mine'

/** The treatment of overlaps that a caller can choose. */
export const overlapPolicies = ['report', 'fail', 'keepTheirs', 'keepMine'] as const
export type OverlapPolicy = (typeof overlapPolicies)[number]

/**
 * A place that both sides have changed in different ways. The content has one complete side. A member is absent if
 * there was nothing at the place.
 */
export interface Overlap {
  /** JSON pointer to the place in the root: keys, and indexes of elements. */
  readonly path: string
  readonly base?: unknown
  readonly theirs?: unknown
  readonly mine?: unknown
  readonly kept: MergeSide
}

/** Overlaps of one change, in a form with bounded length. */
export interface OverlapReport {
  readonly overlaps: readonly Overlap[]
  /** The number of all overlaps, if there are more than the listed ones. */
  readonly overlapCount?: number
}

/** Maximum number of listed overlaps. */
const listedMax = 100
/** Maximum characters of a text, or of a value as JSON. */
const textLengthMax = 1_000

/** Returns the overlaps in a form with bounded length. */
export const reportOf = (overlaps: readonly Overlap[]): OverlapReport => ({
  overlaps: overlaps.slice(0, listedMax).map(bounded),
  ...(overlaps.length > listedMax && { overlapCount: overlaps.length }),
})

/** Returns an overlap whose path and values have a bounded length. */
export function bounded(overlap: Overlap): Overlap {
  const members = (['base', 'theirs', 'mine'] as const)
    .filter((name) => overlap[name] !== undefined)
    .map((name) => [name, boundedValue(overlap[name])] as const)
  return { path: shortened(overlap.path, textLengthMax), ...Object.fromEntries(members), kept: overlap.kept }
}

function boundedValue(stored: unknown): unknown {
  const value = toJson(stored) ?? null
  if (typeof value === 'string') return shortened(value, textLengthMax)
  const json = JSON.stringify(value)
  return json.length > textLengthMax ? shortened(json, textLengthMax) : value
}

/** Returns the side that the content has at overlaps. `isReplacement`: the change is the whole new content. */
export function keptSide(policy: OverlapPolicy, isReplacement: boolean): MergeSide {
  if (policy === 'keepMine') return 'mine'
  return policy === 'report' && isReplacement ? 'mine' : 'theirs'
}

/** Returns the error of a change that must not overlap with changes of others. */
export const overlapError = (report: OverlapReport): ApiError =>
  new ApiError(
    'crdt/overlap',
    'others have also changed the same words or values, and nothing was written: read the document again, or choose a side with onOverlap',
    { details: { ...report } },
  )
