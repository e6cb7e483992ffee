import type * as Y from 'yjs'
import type { SharedRoot } from './yjs/root-kind.ts'

/** What a replacement did to a document. */
export interface ReplacementResult {
  /** False: nothing was written, no transaction took place. */
  readonly changed: boolean
  /** What was inserted: for text, UTF-16 units. */
  readonly insertions: number
  /** What was deleted: for text, UTF-16 units and embeds. */
  readonly deletions: number
  /** Name of the root that was replaced; absent where several may have been. */
  readonly contentKey?: string
}

/** Makes the shared type that was planned for, or a new empty one, equal to the target. */
export type PlannedUpdate = (transaction: Y.Transaction, type: SharedRoot) => ReplacementResult

export const noReplacement: ReplacementResult = { changed: false, insertions: 0, deletions: 0 }

/** Does what was planned for a root, which is left of the type it has, mostly none. */
export function applyToRoot(doc: Y.Doc, contentKey: string, update: PlannedUpdate | null): ReplacementResult {
  if (update === null) return noReplacement
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  return doc.transact((transaction) => update(transaction, root))
}
