import * as Y from 'yjs'
import { deletedRanges } from '../../update/deletions.ts'
import { skipObservers } from '../../update/integration.ts'
import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import { noGuid } from '../yjs/create-doc.ts'
import type { ItemRange } from '../yjs/items.ts'

/** The updates (V1) of a document, in the order of its log. */
export interface HistoryUpdates {
  /** The updates of the earlier version. Content that this version has deleted is not part of the history. */
  readonly from: readonly Uint8Array[]
  /**
   * The updates after it, up to the later version. A whole state is also possible. The history then lacks content
   * that was inserted and deleted between the versions.
   */
  readonly to: readonly Uint8Array[]
  /** The updates after the later version; default: none. */
  readonly after?: readonly Uint8Array[]
}

/** The ids that one version of a document contains. */
interface VersionIds {
  /** Next expected clock of each client. */
  readonly clocks: ReadonlyMap<number, number>
  readonly deleted: RangeIndex<IdRange>
}

/**
 * The state of an id in a history. `past`: the earlier version has deleted it. `unchanged`: both versions contain it.
 * `inserted`, `deleted`: only one version contains it. `transient`: it was inserted and deleted between the versions.
 * `later`: it was inserted after the later version.
 */
export type HistoryState = 'past' | 'unchanged' | 'inserted' | 'deleted' | 'transient' | 'later'

/** A part of an item whose ids have the same state. */
export interface ItemPart extends ItemRange {
  readonly item: Y.Item
  readonly state: HistoryState
}

/** Maximum number of updates in one transaction: Yjs joins long lists slowly. */
const updatesPerTransaction = 64

/**
 * A document with the content that was deleted after an earlier version. Its Y.Doc has no garbage collection, so it
 * takes more memory than the document. Call `destroy` after use.
 */
export class DocumentHistory {
  readonly doc = new Y.Doc({ ...noGuid, gc: false })
  readonly from: VersionIds
  readonly to: VersionIds
  /** The updates between the versions. */
  readonly changes: readonly Uint8Array[]

  constructor({ from, to, after = [] }: HistoryUpdates) {
    this.changes = to
    skipObservers(this.doc)
    this.#apply(from)
    this.from = idsOf(this.doc)
    this.#apply(to)
    this.to = idsOf(this.doc)
    this.#apply(after)
  }

  /** Returns the state of an id, and the end of the clocks that have the same state. */
  stateAt(client: number, clock: number): { readonly state: HistoryState; readonly end: number } {
    const [before, until] = [this.from.clocks.get(client) ?? 0, this.to.clocks.get(client) ?? 0]
    if (clock >= until) return { state: 'later', end: Number.POSITIVE_INFINITY }
    const isOld = clock < before
    const limit = isOld ? before : until
    if (isOld) {
      const past = this.from.deleted.at(client, clock)
      if (past.range !== null) return { state: 'past', end: Math.min(limit, past.end) }
      const deleted = this.to.deleted.at(client, clock)
      const end = Math.min(limit, past.end, deleted.end)
      return { state: deleted.range === null ? 'unchanged' : 'deleted', end }
    }
    const deleted = this.to.deleted.at(client, clock)
    return {
      state: deleted.range === null ? 'inserted' : 'transient',
      end: Math.min(limit, deleted.end),
    }
  }

  /** Divides an item by the states of its ids. */
  *partsOf(item: Y.Item): Generator<ItemPart> {
    const { client, clock } = item.id
    for (let offset = 0; offset < item.length; ) {
      const { state, end } = this.stateAt(client, clock + offset)
      const length = Math.min(item.length, end - clock) - offset
      yield { item, offset, length, state }
      offset += length
    }
  }

  destroy(): void {
    this.doc.destroy()
  }

  #apply(updates: readonly Uint8Array[]): void {
    for (let start = 0; start < updates.length; start += updatesPerTransaction)
      this.doc.transact(() => {
        for (const update of updates.slice(start, start + updatesPerTransaction))
          Y.applyUpdate(this.doc, update)
      })
  }
}

const idsOf = (doc: Y.Doc): VersionIds => ({
  clocks: Y.decodeStateVector(Y.encodeStateVector(doc)),
  deleted: RangeIndex.of(deletedRanges(Y.createDeleteSetFromStructStore(doc.store))),
})
