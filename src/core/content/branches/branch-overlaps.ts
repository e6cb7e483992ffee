import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import type { Overlap } from '../merge/overlap.ts'
import type { BranchHunk } from './branch-hunks.ts'

/**
 * A word or value that a branch and its main editor have both changed. The branch has its own side (`mine`), and the
 * main editor has the other one (`theirs`).
 */
export interface BranchOverlap extends Omit<Overlap, 'kept'> {
  /** Ids of its content in the branch and in the main editor, at most 20 ranges. */
  readonly ids: readonly IdRange[]
}

/** Maximum numbers of the stored overlaps of a branch. */
const storedMax = { overlaps: 100, ranges: 20 } as const

/**
 * Adds overlaps to those of a branch. If one was found before, it keeps its base and gets the new sides. The oldest ones
 * are left out if there are too many.
 */
export function withOverlaps(
  stored: readonly BranchOverlap[],
  found: readonly BranchOverlap[],
): readonly BranchOverlap[] {
  let all = stored
  for (const overlap of found) {
    const earlier = all.filter(({ ids }) => ids.some((a) => overlap.ids.some((b) => intersects(a, b))))
    const ids = [...overlap.ids, ...earlier.flatMap((each) => each.ids)].slice(0, storedMax.ranges)
    const { base: _base, ...sides } = overlap
    const { base } = earlier[0] ?? overlap
    all = [
      ...all.filter((each) => !earlier.includes(each)),
      { ...sides, ...(base !== undefined && { base }), ids },
    ]
  }
  return all.slice(-storedMax.overlaps)
}

const intersects = (a: IdRange, b: IdRange): boolean =>
  a.client === b.client && a.clock < b.clock + b.length && b.clock < a.clock + a.length

/** An overlap of a branch, with the hunks that contain it. */
export interface HunkOverlap extends BranchOverlap, Overlap {
  readonly hunkIds: readonly string[]
}

/** Returns the overlaps that hunks of the branch contain. The others were decided, or one side has been undone. */
export function overlapsIn(
  hunks: readonly BranchHunk[],
  overlaps: readonly BranchOverlap[],
): readonly HunkOverlap[] {
  const index = RangeIndex.of(
    hunks.flatMap(({ hunkId, ranges }) =>
      [...ranges.inserted, ...ranges.deleted].map((range) => ({ ...range, hunkId })),
    ),
  )
  return overlaps.flatMap((overlap) => {
    const hunkIds = new Set<string>()
    for (const ids of overlap.ids)
      for (const { range } of index.parts(ids)) if (range !== null) hunkIds.add(range.hunkId)
    return hunkIds.size === 0 ? [] : { ...overlap, kept: 'mine', hunkIds: [...hunkIds] }
  })
}
