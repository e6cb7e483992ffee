import type { AttributedRange } from '../../update/attribution/attribution.ts'
import { AttributionBuilder } from '../../update/attribution/attribution-builder.ts'
import { RangeIndex } from '../../update/range-index.ts'
import type { SegmentReader } from './segments.ts'
import type { SelectedIds } from './undo-selection.ts'

/** Negative: earlier than all undone changes; positive: later than the first one; 0: the log does not show it. */
interface OrderAnswer {
  readonly order: number
  /** End of the clocks with the same answer. */
  readonly end: number
}

/**
 * The places of changes in the log, compared with the first undone change. Times are too coarse for this: see
 * `sameTimeMs`. The log shows no order if it has several changes in one state.
 */
export class UndoOrder {
  /** The time of a range is the index of its update. */
  readonly #inserted: RangeIndex<AttributedRange>
  readonly #deleted: RangeIndex<AttributedRange>
  readonly #reader: SegmentReader
  readonly #selected: SelectedIds
  #first = Number.POSITIVE_INFINITY

  constructor(reader: SegmentReader, selected: SelectedIds) {
    this.#reader = reader
    this.#selected = selected
    const builder = new AttributionBuilder()
    for (const [at, bytes] of reader.history.changes.entries()) builder.add({ bytes, by: `${at}`, at })
    const { inserted, deleted } = builder.build()
    this.#inserted = new RangeIndex(inserted)
    this.#deleted = new RangeIndex(deleted)
    for (const [client, ranges] of inserted) this.#start(client, ranges, 'inserted')
    for (const [client, ranges] of deleted) this.#start(client, ranges, 'deleted')
  }

  ofInsertion = (client: number, clock: number): OrderAnswer => this.#of(this.#inserted, client, clock)

  ofDeletion = (client: number, clock: number): OrderAnswer => this.#of(this.#deleted, client, clock)

  #of(index: RangeIndex<AttributedRange>, client: number, clock: number): OrderAnswer {
    const { range, end } = index.at(client, clock)
    return { order: range === null ? 0 : range.origin.at - this.#first, end }
  }

  /**
   * Looks for the first undone change in ranges. Content that they have inserted and deleted also counts. A state in the
   * log can contain changes from before the earlier version.
   */
  #start(client: number, ranges: readonly AttributedRange[], change: 'inserted' | 'deleted'): void {
    const { history } = this.#reader
    for (const { clock, length, origin } of ranges)
      for (let at = clock; at < clock + length && origin.at < this.#first; ) {
        const { state, end: stateEnd } = history.stateAt(client, at)
        const { range, end } =
          change === 'inserted' ? this.#reader.insertionAt(client, at) : this.#reader.deletionAt(client, at)
        const isBetween = state === change || state === 'transient'
        if (isBetween && this.#selected.includes(range?.origin ?? null)) this.#first = origin.at
        at = Math.min(end, stateEnd)
      }
  }
}
