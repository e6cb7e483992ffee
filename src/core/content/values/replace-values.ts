import * as Y from 'yjs'
import { readArray, readMap } from '../stored/shared-values.ts'
import { budgetFor } from '../xml/budget.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import { JsonPlan } from './plan.ts'
import { writeEdits } from './write-edits.ts'

/**
 * Plans changes of the root `contentKey`, and writes them in one transaction. Without changes there is no
 * transaction. The Yjs type of the root stays unset, as in a root that is loaded from updates.
 */
export function replaceValues(
  doc: Y.Doc,
  contentKey: string,
  find: (plan: JsonPlan, root: SharedRoot) => void,
): RootReplacement {
  const plan = new JsonPlan(budgetFor(structsIn(doc)))
  // A root that does not exist is planned as an empty root, so that a plan without changes does not create
  // it.
  const known = doc.share.get(contentKey)
  find(plan, known ?? new Y.AbstractType())
  const { edits, insertions, deletions } = plan
  if (edits.length === 0) return noReplacement
  const root = known ?? doc.get(contentKey)
  const placed = known === undefined ? edits.map((edit) => ({ ...edit, type: root })) : edits
  const inXml = doc.transact((transaction) => writeEdits(transaction, placed))
  return {
    changed: true,
    insertions: insertions + inXml.insertions,
    deletions: deletions + inXml.deletions,
  }
}

/** Returns the number of structs of the document. Yjs moves at most this number of structs for one edit. */
export function structsIn({ store }: Y.Doc): number {
  let count = 0
  for (const structs of store.clients.values()) count += structs.length
  return count
}

/**
 * Makes a map root equal to its state in another document. Values that were shared become shared values
 * again.
 */
export const restoreMap = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readMap(past.get(contentKey))
    plan.map(readMap(root), then.json, then)
  })

/** Makes an array root equal to its state in another document, like `restoreMap`. */
export const restoreArray = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readArray(past.get(contentKey))
    plan.array(readArray(root), then.json, then)
  })
