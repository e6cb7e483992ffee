import type { IdRange } from '../yjs/range-index.ts'

/**
 * A decision on hunks of a branch. `accept` changes the main editor, and `reject` the branch. `other` is the whole
 * state (V1) of the other one.
 */
export interface HunkDecision {
  readonly is: 'accept' | 'reject'
  readonly other: Uint8Array
  readonly hunkIds: readonly string[]
  /** The client id of the change. The document must not have this client yet. Absent: any client id. */
  readonly client?: number | undefined
}

/** The hunks of a decision, by its effect on them. */
export interface DecidedHunks {
  /** The decided hunks, in the order of the document. */
  readonly decided: readonly HunkReference[]
  /** Ids for which the branch has no hunk: it was decided before, or it has never existed. */
  readonly unknown: readonly string[]
  /** Hunks that were left out, because other hunks must be decided together with them. */
  readonly dependent: readonly DependentHunk[]
}

interface DependentHunk {
  readonly hunkId: string
  /** The hunks that must be decided together with it. */
  readonly needs: readonly string[]
}

export interface HunkReference {
  readonly hunkId: string
  /** See `HunkRanges`. */
  readonly replaceable: readonly IdRange[]
}
