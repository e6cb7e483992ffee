import { addTo } from '../base/maps.ts'

/** Clocks of one client: `length` clocks from `clock`. */
interface ClockRange {
  readonly clock: number
  readonly length: number
}

/** Id of an item: its first clock, or a clock inside it. */
export interface StoredId {
  readonly client: number
  readonly clock: number
}

/** A range of consecutive ids of one client. */
export interface IdRange extends StoredId {
  readonly length: number
}

/** The range that contains a clock; null if there is none. The answer is the same for all clocks before `end`. */
export interface RangeAnswer<T> {
  readonly range: T | null
  readonly end: number
}

/** Disjoint ranges of ids, with a search in logarithmic time. */
export class RangeIndex<T extends ClockRange> {
  readonly #clients: ReadonlyMap<number, readonly T[]>

  /** @param clients the ranges of each client, disjoint and in the order of their clocks */
  constructor(clients: ReadonlyMap<number, readonly T[]>) {
    this.#clients = clients
  }

  /** @param ranges disjoint ranges, in any order */
  static of<T extends IdRange>(ranges: Iterable<T>): RangeIndex<T> {
    const clients = new Map<number, T[]>()
    for (const range of ranges) {
      addTo(clients, range.client, range)
    }
    for (const ofClient of clients.values()) ofClient.sort((a, b) => a.clock - b.clock)
    return new RangeIndex(clients)
  }

  at(client: number, clock: number): RangeAnswer<T> {
    const ranges = this.#clients.get(client)
    if (ranges === undefined) return nothing
    // The first range that ends after the clock. A call of `firstIndex` takes twice as long.
    let [low, high] = [0, ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const { clock: start, length } = ranges[middle] as T
      if (start + length <= clock) low = middle + 1
      else high = middle
    }
    const range = ranges[low]
    if (range === undefined) return nothing
    return range.clock <= clock
      ? { range, end: range.clock + range.length }
      : { range: null, end: range.clock }
  }

  has(client: number, clock: number): boolean {
    return this.at(client, clock).range !== null
  }

  /** Divides ids by the ranges that contain them. */
  *parts({ client, clock, length }: IdRange): Generator<IdRange & { readonly range: T | null }> {
    for (let at = clock, until = clock + length; at < until; ) {
      const { range, end } = this.at(client, at)
      const next = Math.min(until, end)
      yield { range, client, clock: at, length: next - at }
      at = next
    }
  }
}

const nothing = { range: null, end: Number.POSITIVE_INFINITY } as const

/** Returns the parts of ranges that no range of `removed` contains. The ranges may overlap. */
export function withoutIds<T extends IdRange>(
  ranges: readonly T[],
  removed: readonly IdRange[],
): readonly T[] {
  if (removed.length === 0) return ranges
  const index = RangeIndex.of(disjoint(removed))
  const left: T[] = []
  for (const each of ranges)
    for (const { range, clock, length } of index.parts(each))
      if (range === null) left.push({ ...each, clock, length })
  return left
}

/** Returns the same ids in disjoint ranges. */
export function disjoint(ranges: readonly IdRange[]): readonly IdRange[] {
  const joined: IdRange[] = []
  for (const range of [...ranges].sort((a, b) => a.client - b.client || a.clock - b.clock)) {
    const last = joined.at(-1)
    if (last === undefined || last.client !== range.client || last.clock + last.length < range.clock)
      joined.push(range)
    else {
      const end = Math.max(last.clock + last.length, range.clock + range.length)
      joined[joined.length - 1] = { ...last, length: end - last.clock }
    }
  }
  return joined
}
