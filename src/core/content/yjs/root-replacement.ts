import type * as Y from 'yjs'
import type { IdRange } from '../../update/range-index.ts'
import type { KnownKind, SharedRoot } from './root-kind.ts'

/** Content that is deleted, and has copies in the same document. */
export interface ReplacedNodes {
  /** Client id of the copies. */
  readonly client: number
  /** Ids of the copies from `clock` on, and the ids that they copy. */
  readonly copies: readonly { readonly clock: number; readonly source: IdRange }[]
  /** All replaced ids. Ids that were deleted before have no copy. */
  readonly old: readonly IdRange[]
}

/** The result of a replacement of one root. */
export interface RootReplacement {
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
  /** The nodes that a migration has renamed or wrapped; absent if there are none. */
  readonly replaced?: ReplacedNodes
  /** Sentences about content that editors may remove, one for each name; absent if there are none. */
  readonly warnings?: readonly string[]
}

/**
 * Executes a plan: makes a shared type equal to the target of the plan. The type must be the one for which
 * the plan was made, or a new empty type.
 */
export type PlannedUpdate = (transaction: Y.Transaction, type: SharedRoot) => RootReplacement

export const noReplacement: RootReplacement = { changed: false, insertions: 0, deletions: 0 }

/**
 * Executes a plan on a root. The Yjs type of the root stays unset, as in a root that is loaded from updates.
 */
export function applyToRoot(doc: Y.Doc, contentKey: string, update: PlannedUpdate | null): RootReplacement {
  if (update === null) return noReplacement
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  return doc.transact((transaction) => update(transaction, root))
}
