import type { HunkEntry } from '../authorship/change-set.ts'

/** A branch, as `/v2/crdt/branches/list` returns it. */
export interface BranchEntry {
  readonly name: string
  /** Id of the editor from which the branch was created. */
  readonly editorId: string
  readonly branchEditorId: string
  /** Id of the user; '' if the user is not known. */
  readonly createdBy: string
  readonly createdAt: string
  readonly status: 'open' | 'merged' | 'rejected'
  readonly decidedBy: string
  readonly decidedAt: string | null
}

/** A difference between a branch and its editor, as `/v2/crdt/branches/diff` returns it. */
export interface BranchHunkEntry extends HunkEntry {
  readonly hunkId: string
  /** All known authors. */
  readonly userIds: readonly string[]
  /** ISO 8601; null if the time is unknown. */
  readonly at: string | null
  /** Ids of the hunks that contain this one, and without which it cannot be accepted. */
  readonly dependsOn: readonly string[]
}

/** The response of `/v2/crdt/branches/diff`. */
export interface BranchChangesEntry {
  readonly hunks: readonly BranchHunkEntry[]
  /** True if the branch has more hunks. */
  readonly truncated: boolean
}
