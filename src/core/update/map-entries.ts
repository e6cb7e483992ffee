import * as Y from 'yjs'
import { MalformedUpdateError } from './malformed.ts'
import type { UpdateSummary } from './summary.ts'

/**
 * Rejects an update with an item that has several values and is a live entry of a map (or an attribute of an
 * element). An entry must be one value. If a longer entry has been split, Yjs deletes only its end when the
 * entry is replaced. Because of the remaining live part, Yjs throws whenever the map is deleted, also after
 * the next load. Deleted items are legitimate, because documents without garbage collection have them.
 *
 * Must be called after the update was applied to `doc` and before it is stored, because the document
 * determines to which entry an item belongs.
 * @throws MalformedUpdateError; `doc` must not be used afterwards
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
