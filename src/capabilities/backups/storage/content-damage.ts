import * as Y from 'yjs'
import { errorMessage } from '../../../core/base/errors.ts'
import type { LiveLog } from '../../../core/store/damage.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import { readUpdate } from '../../../core/update/read-update.ts'

/**
 * Number of updates that are applied in one transaction. With fewer updates, the fixed cost of a transaction
 * would dominate. With more updates, Yjs takes longer, because it joins lists of values pairwise.
 */
const updatesPerTurn = 64

/**
 * Applies the stored updates of a document to a Y.Doc. The checksums of the updates must be correct. Returns
 * the problem if Yjs cannot read an update, or if updates are missing; otherwise returns null.
 */
export async function findContentDamage({ snapshot, entries }: LiveLog): Promise<string | null> {
  const doc = new Y.Doc()
  try {
    if (snapshot !== null) Y.applyUpdate(doc, snapshot)
    for (let start = 0; start < entries.length; start += updatesPerTurn) {
      const problem = applied(doc, entries.slice(start, start + updatesPerTurn))
      if (problem !== null) return problem
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { pendingStructs, pendingDs } = doc.store
    return pendingStructs === null && pendingDs === null ? null : 'it builds on updates that are missing'
  } catch (error) {
    return `Yjs cannot read its snapshot: ${errorMessage(error)}`
  } finally {
    doc.destroy()
  }
}

function applied(doc: Y.Doc, entries: LiveLog['entries']): string | null {
  let at = 0
  try {
    doc.transact(() => {
      for (const { seq, bytes } of entries) {
        at = seq
        readUpdate(bytes)
        Y.applyUpdate(doc, bytes)
      }
    })
    return null
  } catch (error) {
    const reader = error instanceof MalformedUpdateError ? 'is malformed' : 'cannot be read by Yjs'
    return `update ${at} ${reader}: ${errorMessage(error)}`
  }
}
