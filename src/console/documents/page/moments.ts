import * as Y from 'yjs'
import type {
  CrdtHistoryData,
  CrdtHistoryDataInsertedItem,
  CrdtHistoryDataOriginsItem,
} from '../../../client/api/operation-types.ts'
import { RangeIndex } from '../../../core/update/range-index.ts'

/** The author, the time and the call of a change. */
export type StepOrigin = CrdtHistoryDataOriginsItem

/** A part of an item with the same changes. Moments are numbers of steps. */
export interface Stamp {
  /** Start of the part in the item. */
  readonly offset: number
  readonly length: number
  /** Null if unknown. */
  readonly inserter: StepOrigin | null
  /** Null if unknown, or if the part is not deleted. */
  readonly deleter: StepOrigin | null
  /** First moment that has the part. */
  readonly from: number
  /** First moment that no longer has the part; infinite if it is not deleted. */
  readonly until: number
}

/** How a part is shown. */
export type Mark = 'same' | 'added' | 'removed'

/** Decides how a part is shown; null: not at all. */
export type Lens = (stamp: Stamp) => Mark | null

const isIn = ({ from, until }: Stamp, moment: number): boolean => from <= moment && moment < until

/** Shows one moment. */
export const momentLens =
  (moment: number): Lens =>
  (stamp) =>
    isIn(stamp, moment) ? 'same' : null

/** Shows a moment, and marks the parts that another moment does not have. */
export const comparisonLens =
  (moment: number, other: number, mark: Mark): Lens =>
  (stamp) => {
    if (!isIn(stamp, moment)) return null
    return isIn(stamp, other) ? 'same' : mark
  }

/** Shows what the present document would be without the changes that `isUndone` selects. */
export const undoLens =
  (present: number, isUndone: (origin: StepOrigin | null) => boolean): Lens =>
  (stamp) => {
    if (isIn(stamp, present)) return isUndone(stamp.inserter) ? 'removed' : 'same'
    return isUndone(stamp.deleter) && !isUndone(stamp.inserter) ? 'added' : null
  }

type History = Pick<CrdtHistoryData, 'origins' | 'inserted' | 'deleted'>
type OriginRange = CrdtHistoryDataInsertedItem

const indexOf = (ranges: readonly OriginRange[]): RangeIndex<OriginRange> => RangeIndex.of(ranges)

/**
 * The changes of a document in the order of time. Moment 0 is before the first change, and the last moment is the
 * present. Content without a known time is in all moments.
 */
export class Moments {
  /** The change of each moment after the first one. */
  readonly steps: readonly StepOrigin[]
  readonly #origins: readonly StepOrigin[]
  readonly #inserted: RangeIndex<OriginRange>
  readonly #deleted: RangeIndex<OriginRange>
  /** Moment of each origin, by its index. */
  readonly #moments: ReadonlyMap<number, number>
  /** Next clock of each client, and the deleted ids, when the history was read. Later changes are in the present. */
  readonly #clocks: ReadonlyMap<number, number>
  readonly #deletedBefore: RangeIndex<{ readonly clock: number; readonly length: number }>

  /** @param doc the document that the server has returned with the history */
  constructor(doc: Y.Doc, { origins, inserted, deleted }: History) {
    this.#origins = origins
    this.#inserted = indexOf(inserted)
    this.#deleted = indexOf(deleted)
    this.#clocks = Y.decodeStateVector(Y.encodeStateVector(doc))
    this.#deletedBefore = new RangeIndex(
      new Map(
        [...Y.createDeleteSetFromStructStore(doc.store).clients].map(([client, ranges]) => [
          client,
          ranges.map(({ clock, len }) => ({ clock, length: len })),
        ]),
      ),
    )
    const known = [...this.#shownOrigins(doc)]
      .flatMap((index) => {
        const at = origins[index]?.at ?? null
        return at === null ? [] : [{ index, at }]
      })
      .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.index - b.index))
    this.steps = known.map(({ index }) => origins[index] as StepOrigin)
    this.#moments = new Map(known.map(({ index }, at) => [index, at + 1]))
  }

  /** The number of the present moment. */
  get present(): number {
    return this.steps.length
  }

  /** Returns the moment after a change; the present if there is no such change. */
  momentOf(origin: StepOrigin): number {
    const at = this.steps.indexOf(origin)
    return at === -1 ? this.present : at + 1
  }

  /** Divides an item into parts with the same changes. */
  *of({ id: { client, clock }, length, deleted }: Y.Item): Generator<Stamp> {
    for (let offset = 0; offset < length; ) {
      const at = clock + offset
      const inserted = this.#inserted.at(client, at)
      const removed = deleted ? this.#deleted.at(client, at) : null
      const end = Math.min(length, inserted.end - clock, (removed?.end ?? inserted.end) - clock)
      const isLater = at >= (this.#clocks.get(client) ?? 0)
      yield {
        offset,
        length: end - offset,
        inserter: this.#originOf(inserted.range),
        deleter: removed === null ? null : this.#originOf(removed.range),
        from: this.#momentOf(inserted.range) ?? (isLater ? this.present : 0),
        until: removed === null ? Number.POSITIVE_INFINITY : this.#endOf(client, at, removed.range),
      }
      offset = end
    }
  }

  #endOf(client: number, clock: number, range: OriginRange | null): number {
    return this.#momentOf(range) ?? (this.#deletedBefore.has(client, clock) ? 0 : this.present)
  }

  #originOf = (range: OriginRange | null): StepOrigin | null =>
    range === null ? null : (this.#origins[range.origin] ?? null)

  #momentOf = (range: OriginRange | null): number | undefined =>
    range === null ? undefined : this.#moments.get(range.origin)

  /** Returns the indexes of the origins of content that the document still has. */
  #shownOrigins(doc: Y.Doc): ReadonlySet<number> {
    const shown = new Set<number>()
    for (const [client, structs] of doc.store.clients)
      for (const item of structs) {
        if (!(item instanceof Y.Item) || item.content instanceof Y.ContentDeleted) continue
        const { clock } = item.id
        for (const index of item.deleted ? [this.#inserted, this.#deleted] : [this.#inserted])
          for (const { range } of index.parts({ client, clock, length: item.length }))
            if (range !== null) shown.add(range.origin)
      }
    return shown
  }
}
