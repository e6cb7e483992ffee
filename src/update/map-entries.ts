import * as Y from 'yjs'
import { MalformedUpdateError } from './malformed.ts'
import type { UpdateSummary } from './summary.ts'

/**
 * Rejects runs that are live entries of a map (or attributes of an element). An entry must be one value. If a
 * longer one has been split, Yjs replaces it by deleting only its end. The remaining live part then makes Yjs
 * throw whenever the map is deleted, also at the next load. Deleted runs are legitimate: documents without
 * garbage collection have them. Call after the update was applied to `doc` and before it is stored: the
 * origins of a run determine its entry.
 * @throws MalformedUpdateError; `doc` must not be used after it
 */
export function checkMapEntries({ longRuns }: UpdateSummary, doc: Y.Doc): void {
  for (let index = 0; index < longRuns.length; index += 3) {
    const client = longRuns[index] as number
    const to = longRuns[index + 2] as number
    let clock = longRuns[index + 1] as number
    while (clock < to) {
      const item = Y.getItem(doc.store, Y.createID(client, clock))
      if (item instanceof Y.Item && item.parentSub !== null && !item.deleted) {
        throw new MalformedUpdateError('an entry of a map has more than one value')
      }
      clock = item.id.clock + item.length
    }
  }
}
