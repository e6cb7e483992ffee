import type * as Y from 'yjs'
import type { BranchOverlap } from './branches/branch-overlaps.ts'
import type { DecidedHunks } from './branches/hunk-decision.ts'
import type { EditOutcome } from './edit/edit.ts'
import type { EditDependencies } from './edit/edit-dependencies.ts'
import type { OverlapReport } from './merge/overlap.ts'
import type { KnownKind, SharedRoot } from './yjs/root-kind.ts'

/** The result of a replacement. */
export interface ReplacementResult {
  /** False if nothing was written and there was no transaction. */
  readonly changed: boolean
  /** Number of insertions; for text, number of UTF-16 units. */
  readonly insertions: number
  /** Number of deletions; for text, number of UTF-16 units and embeds. */
  readonly deletions: number
  /** Name of the root that was replaced; absent if several roots may have been replaced. */
  readonly contentKey?: string
  /** Name of the root that the replacement has created; absent if it existed. */
  readonly createdRoot?: string
  /** The kind of the root that was replaced or edited; absent if several roots may have been replaced. */
  readonly kind?: KnownKind
  /** One outcome for each edit, in the order of the request; absent for a replacement. */
  readonly edits?: readonly EditOutcome[]
  /** The hunks of a branch that were decided; absent for any other change. */
  readonly hunks?: DecidedHunks
  /** The content on which the edits depend; present only if they are merged into a later version. */
  readonly dependencies?: EditDependencies
  /** Places that others have changed, too, and their number if there are more; absent if there are none. */
  readonly overlaps?: OverlapReport['overlaps']
  readonly overlapCount?: number
  /** Places that a branch and its main editor have both changed; present only if a branch has followed. */
  readonly branchOverlaps?: readonly BranchOverlap[]
  /** Sentences about content that editors may remove, one for each name; absent if there are none. */
  readonly warnings?: readonly string[]
}

/**
 * Executes a plan: makes a shared type equal to the target of the plan. The type must be the one for which
 * the plan was made, or a new empty type.
 */
export type PlannedUpdate = (transaction: Y.Transaction, type: SharedRoot) => ReplacementResult

export const noReplacement: ReplacementResult = { changed: false, insertions: 0, deletions: 0 }

/** Returns the result of a change that the document already has. */
export const withoutEffect = (result: ReplacementResult): ReplacementResult => ({
  ...result,
  ...noReplacement,
  ...(result.edits && { edits: result.edits.map((edit) => ({ ...edit, ...noReplacement })) }),
})

/**
 * Executes a plan on a root. The Yjs type of the root stays unset, as in a root that is loaded from updates.
 */
export function applyToRoot(doc: Y.Doc, contentKey: string, update: PlannedUpdate | null): ReplacementResult {
  if (update === null) return noReplacement
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  return doc.transact((transaction) => update(transaction, root))
}
