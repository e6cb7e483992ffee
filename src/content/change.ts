import type * as Y from 'yjs'
import type { Root } from './kind.ts'

/** What a replacement did to a document. */
export interface Change {
  /** False: nothing was written, no transaction took place. */
  readonly changed: boolean
  /** What was inserted: for text, UTF-16 units. */
  readonly insertions: number
  /** What was deleted: for text, UTF-16 units and embeds. */
  readonly deletions: number
}

/** Makes the shared type that was planned for, or a new empty one, equal to the target. */
export type TypeUpdate = (transaction: Y.Transaction, type: Root) => Change

export const unchanged: Change = { changed: false, insertions: 0, deletions: 0 }

/** Does what was planned for a root, which is left of the type it has, mostly none. */
export function updateRoot(doc: Y.Doc, contentKey: string, update: TypeUpdate | null): Change {
  if (update === null) return unchanged
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  return doc.transact((transaction) => update(transaction, root))
}
