import * as Y from 'yjs'
import { noReplacement, type ReplacementResult } from '../replacement-result.ts'
import { budgetFor } from '../xml/budget.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { readArray, readMap } from '../yjs/shared-values.ts'
import { JsonPlan } from './plan.ts'
import { writeEdits } from './write-edits.ts'

/**
 * Plans on the root `contentKey` and writes what was found in one transaction, or nothing. Like a text root, the root
 * is left of the type it has, mostly none.
 */
export function replaceValues(
  doc: Y.Doc,
  contentKey: string,
  find: (plan: JsonPlan, root: SharedRoot) => void,
): ReplacementResult {
  const plan = new JsonPlan(budgetFor(structsIn(doc)))
  // A root that is not there is planned as an empty one, so that finding nothing to do makes none.
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

/** What Yjs shifts, at most, for one edit. */
function structsIn({ store }: Y.Doc): number {
  let count = 0
  for (const structs of store.clients.values()) count += structs.length
  return count
}

/** Makes the map root equal to what it is in another document; what was shared there is shared again. */
export const restoreMap = (doc: Y.Doc, contentKey: string, past: Y.Doc): ReplacementResult =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readMap(past.share.get(contentKey) as SharedRoot)
    plan.map(readMap(root), then.json, then)
  })

/** The same of an array root. */
export const restoreArray = (doc: Y.Doc, contentKey: string, past: Y.Doc): ReplacementResult =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readArray(past.share.get(contentKey) as SharedRoot)
    plan.array(readArray(root), then.json, then)
  })
