import * as Y from 'yjs'
import { type Change, unchanged } from './change.ts'
import type { Root } from './kind.ts'
import { readArray, readMap } from './shared-values.ts'
import { ValuePlan } from './value-plan.ts'
import { writeEdits } from './value-write.ts'
import { effortFor } from './xml-effort.ts'

/**
 * Plans on the root `contentKey` and writes what was found in one transaction, or nothing. Like a text root, the root
 * is left of the type it has, mostly none.
 */
export function replaceValues(
  doc: Y.Doc,
  contentKey: string,
  find: (plan: ValuePlan, root: Root) => void,
): Change {
  const plan = new ValuePlan(effortFor(structsIn(doc)))
  // A root that is not there is planned as an empty one, so that finding nothing to do makes none.
  const known = doc.share.get(contentKey)
  find(plan, known ?? new Y.AbstractType())
  const { edits, insertions, deletions } = plan
  if (edits.length === 0) return unchanged
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
export const restoreMap = (doc: Y.Doc, contentKey: string, past: Y.Doc): Change =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readMap(past.share.get(contentKey) as Root)
    plan.map(readMap(root), then.json, then)
  })

/** The same of an array root. */
export const restoreArray = (doc: Y.Doc, contentKey: string, past: Y.Doc): Change =>
  replaceValues(doc, contentKey, (plan, root) => {
    const then = readArray(past.share.get(contentKey) as Root)
    plan.array(readArray(root), then.json, then)
  })
