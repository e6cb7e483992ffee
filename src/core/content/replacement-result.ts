import type { BranchOverlap } from './branches/branch-overlaps.ts'
import type { DecidedHunks } from './branches/decide-hunks.ts'
import type { MergedContent } from './merge/merge-change.ts'

/** The result of a change of content: a replacement, edits, a merge, or a decision about a branch. */
export interface ReplacementResult extends MergedContent {
  /** The hunks of a branch that were decided; absent for any other change. */
  readonly hunks?: DecidedHunks
  /** Places that a branch and its main editor have both changed; present only if a branch has followed. */
  readonly branchOverlaps?: readonly BranchOverlap[]
}
