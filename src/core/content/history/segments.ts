import * as Y from 'yjs'
import type { ChangeOrigin } from '../../model/change-origin.ts'
import type { AttributedRange, Attribution } from '../../update/attribution/attribution.ts'
import { type IdRange, type RangeAnswer, RangeIndex } from '../../update/range-index.ts'
import type { DocumentHistory, ItemPart } from './document-history.ts'

/** A part of an item whose ids have the same state and the same origins. */
export interface Segment extends ItemPart {
  /** Origin of the insertion, if the state is `inserted` or `transient`; null if it is unknown. */
  readonly inserter: ChangeOrigin | null
  /** Origin of the deletion, if the state is `deleted` or `transient`; null if it is unknown. */
  readonly deleter: ChangeOrigin | null
}

export const rangeOfSegment = ({ item: { id }, offset, length }: Segment): IdRange => ({
  client: id.client,
  clock: id.clock + offset,
  length,
})

/** Divides the items of a history by the origins of their changes. */
export class SegmentReader {
  readonly history: DocumentHistory
  readonly #inserted: RangeIndex<AttributedRange>
  readonly #deleted: RangeIndex<AttributedRange>

  constructor(history: DocumentHistory, { inserted, deleted }: Attribution) {
    this.history = history
    this.#inserted = new RangeIndex(inserted)
    this.#deleted = new RangeIndex(deleted)
  }

  /** Returns the origin of the insertion of an id; null if it is unknown. */
  inserterOf({ client, clock }: Y.ID): ChangeOrigin | null {
    return this.insertionAt(client, clock).range?.origin ?? null
  }

  /** Returns the range of ids that were inserted with an id. */
  insertionAt(client: number, clock: number): RangeAnswer<AttributedRange> {
    return this.#inserted.at(client, clock)
  }

  /** Returns the range of ids that an update has deleted with an id. */
  deletionAt(client: number, clock: number): RangeAnswer<AttributedRange> {
    return this.#deleted.at(client, clock)
  }

  /**
   * Returns whether one client has inserted two segments, and everything between them, in one change: with one
   * author, source and `meta`. Changes of a few seconds can be one change, because the attribution has one time for
   * them.
   */
  isOneInsertion(a: Segment, b: Segment): boolean {
    const insertionOf = ({ item: { id }, offset }: Segment) => this.insertionAt(id.client, id.clock + offset)
    const [first, second] = [insertionOf(a), insertionOf(b)]
    return a.item.id.client === b.item.id.client && first.range === second.range && first.end === second.end
  }

  /** Returns the segments of all items, in the order of clients and clocks. */
  *all(): Generator<Segment> {
    for (const structs of this.history.doc.store.clients.values())
      for (const struct of structs) if (struct instanceof Y.Item) yield* this.of(struct)
  }

  /** Returns the segments of an item, in their order. */
  of(item: Y.Item): readonly Segment[] {
    const { client, clock: start } = item.id
    const segments: Segment[] = []
    for (let offset = 0; offset < item.length; ) {
      const clock = start + offset
      const { state, end: stateEnd } = this.history.stateAt(client, clock)
      let end = Math.min(start + item.length, stateEnd)
      let [inserter, deleter]: [ChangeOrigin | null, ChangeOrigin | null] = [null, null]
      if (state === 'inserted' || state === 'transient') {
        const found = this.#inserted.at(client, clock)
        inserter = found.range?.origin ?? null
        end = Math.min(end, found.end)
      }
      if (state === 'deleted' || state === 'transient') {
        const found = this.#deleted.at(client, clock)
        deleter = found.range?.origin ?? this.#impliedDeleter(item)
        end = Math.min(end, found.end)
      }
      segments.push({ item, offset, length: end - clock, state, inserter, deleter })
      offset = end - start
    }
    return segments
  }

  /**
   * Returns the origin of a deletion that no update contains: every replica deletes the content of a deleted value,
   * and the entries of a map that have lost against a later entry.
   */
  #impliedDeleter(item: Y.Item): ChangeOrigin | null {
    for (let each: Y.Item | null = item; each?.deleted === true; ) {
      const { client, clock } = each.id
      const known = this.#deleted.at(client, clock).range
      if (known !== null && each !== item) return known.origin
      const next: Y.Item | null = each.parentSub === null ? null : each.right
      if (next !== null) return this.inserterOf(next.id)
      each = each.parent instanceof Y.AbstractType ? each.parent._item : null
    }
    return null
  }
}
