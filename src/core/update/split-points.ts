import * as Y from 'yjs'
import { addTo } from '../base/maps.ts'
import { nullIfMalformed } from './malformed.ts'
import { type ReadItem, readState, type UpdateListener } from './read-update.ts'

/** The clocks before which the items of each client are split, in ascending order. */
export type SplitPoints = ReadonlyMap<number, readonly number[]>

/** Number of splits of one client up to which Yjs makes them one by one. */
const oneByOneMax = 128
/** Minimum number of bytes of an update for a split. */
const pointBytes = 2

/** The split points of an update, and the offset in its bytes where the structs end and the deletions start. */
interface UpdateSplits {
  readonly points: SplitPoints
  readonly structsEnd: number
}

/**
 * Returns the clocks at which Yjs splits items to integrate an update or a whole state (V1), for the clients with many
 * of them. Returns null if there are none, and if only Yjs can read the bytes. All structs of the update must be
 * integrated, because a split between the halves of a surrogate pair changes the text.
 */
export function splitsOf(bytes: Uint8Array): UpdateSplits | null {
  if (bytes.length < oneByOneMax * pointBytes) return null
  const collected = new PointCollector()
  const summary = nullIfMalformed(() => readState(bytes, collected))
  const points = collected.sorted()
  return summary === null || points.size === 0 ? null : { points, structsEnd: summary.structsEnd }
}

class PointCollector implements UpdateListener {
  /** The points of each client, in any order and possibly twice. Lists take a fraction of the time of sets. */
  readonly #points = new Map<number, number[]>()

  item({ client, clock, origin, rightOrigin }: ReadItem): void {
    // Most items continue the previous item of their client.
    if (origin !== null && !(origin.client === client && origin.clock + 1 === clock))
      addTo(this.#points, origin.client, origin.clock + 1)
    if (rightOrigin !== null) addTo(this.#points, rightOrigin.client, rightOrigin.clock)
  }

  deletion(client: number, clock: number, length: number): void {
    addTo(this.#points, client, clock)
    addTo(this.#points, client, clock + length)
  }

  sorted(): SplitPoints {
    const sorted = new Map<number, readonly number[]>()
    for (const [client, points] of this.#points) {
      const distinct = points.length > oneByOneMax ? [...new Set(points)] : []
      if (distinct.length > oneByOneMax)
        sorted.set(
          client,
          distinct.sort((a, b) => a - b),
        )
    }
    return sorted
  }
}

/** An item with the clocks inside it at which it is split; `at` is its index in the structs. */
export interface ItemCut {
  readonly at: number
  readonly item: Y.Item
  readonly points: readonly number[]
}

/** Returns the items that contain some of the ascending `points`. Searches them, because there may be few points. */
export function cutsOf(structs: readonly (Y.Item | Y.GC)[], points: readonly number[]): readonly ItemCut[] {
  const cuts: ItemCut[] = []
  const [first, last] = [structs[0], structs.at(-1)]
  if (first === undefined || last === undefined) return cuts
  const end = last.id.clock + last.length
  for (let next = firstAfter(points, first.id.clock); next < points.length; ) {
    const clock = points[next] as number
    if (clock >= end) break
    const at = Y.findIndexSS(structs as (Y.Item | Y.GC)[], clock)
    const item = structs[at] as Y.Item | Y.GC
    const itemEnd = item.id.clock + item.length
    const from = clock > item.id.clock ? next : next + 1
    while (next < points.length && (points[next] as number) < itemEnd) next += 1
    if (item instanceof Y.Item && from < next) cuts.push({ at, item, points: points.slice(from, next) })
  }
  return cuts
}

/** Returns whether an item contains one of the ascending `points`, so that it must be split. */
export const hasPointIn = ({ id: { clock }, length }: Y.Item, points: readonly number[]): boolean =>
  length > 1 && (points[firstAfter(points, clock)] ?? Number.POSITIVE_INFINITY) < clock + length

/** Returns the index of the first of the ascending `points` that is larger than `clock`. */
function firstAfter(points: readonly number[], clock: number): number {
  let [low, high] = [0, points.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle] as number) > clock) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Splits an item at the ascending clocks `points` inside it, and returns its parts. The first split is the one
 * in the middle, so that the copies take n·log n. The caller must put the parts into the store.
 */
export function splitItem(
  transaction: Y.Transaction,
  item: Y.Item,
  points: readonly number[],
): readonly Y.Item[] {
  const middle = points.length >> 1
  const clock = points[middle]
  if (clock === undefined) return [item]
  // Yjs splits in the array that it finds in the store, here a short one: in a long one, each split would shift
  // all later structs.
  const parts = [item]
  const store = Object.assign(Object.create(transaction.doc.store) as Y.Doc['store'], {
    clients: new Map([[item.id.client, parts]]),
  })
  Y.getItemCleanEnd(transaction, store, Y.createID(item.id.client, clock - 1))
  const [left = item, right] = parts
  if (right === undefined) return parts
  return [
    ...splitItem(transaction, left, points.slice(0, middle)),
    ...splitItem(transaction, right, points.slice(middle + 1)),
  ]
}
