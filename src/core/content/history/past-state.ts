import * as Y from 'yjs'
import { addTo } from '../../base/maps.ts'
import type { Attribution } from '../../update/attribution/attribution.ts'
import { noGuid } from '../yjs/create-doc.ts'
import type { DocumentHistory } from './document-history.ts'
import { SegmentReader } from './segments.ts'

/**
 * Returns the state (V1) of a document after all changes up to a time, in epoch milliseconds, with the deleted content
 * that the history has. Changes without a known time count as made before. The changes of one author have one time for
 * some seconds, so a change can depend on one that is later; it is left out then.
 */
export function stateUntil(history: DocumentHistory, attribution: Attribution, until: number): Uint8Array {
  const clocks = new Map<number, number>()
  for (const [client, clock] of history.to.clocks) {
    const later = attribution.inserted.get(client)?.find(({ origin }) => origin.at > until)
    clocks.set(client, Math.min(clock, later?.clock ?? clock))
  }
  const deletions = Y.createDeleteSet()
  for (const { item, offset, length, deleter, state } of new SegmentReader(history, attribution).all()) {
    if (state !== 'transient' || (deleter !== null && deleter.at > until)) continue
    const { client, clock } = item.id
    addTo(deletions.clients, client, { clock: clock + offset, len: length })
  }
  const past = new Y.Doc({ ...noGuid, gc: false })
  Y.createDocFromSnapshot(history.doc, Y.createSnapshot(deletions, clocks), past)
  past.store.pendingStructs = null
  past.store.pendingDs = null
  return Y.encodeStateAsUpdate(past)
}
