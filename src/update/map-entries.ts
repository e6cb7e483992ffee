import * as Y from 'yjs'
import { MalformedUpdateError } from './malformed.ts'
import type { UpdateSummary } from './summary.ts'

/**
 * Refuses runs that turn out to be living entries of a map (or attributes of an element). An entry is one value. Yjs
 * replaces a longer one by deleting only its end if it was cut before; what is left alive then makes it throw
 * whenever the map is deleted, at the next load too. Deleted runs are genuine: documents without garbage collection
 * have them. To be asked after the update was applied to `doc` and before it is stored: whose entry a run is, follows
 * from its origins.
 * @throws MalformedUpdateError after which `doc` must not be used any more
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
