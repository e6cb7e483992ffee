/** Clocks of one client: `length` clocks from `clock`. */
export interface ClockRange {
  readonly clock: number
  readonly length: number
}

/** Ids of one client. */
export interface IdRange extends ClockRange {
  readonly client: number
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
      const ofClient = clients.get(range.client)
      if (ofClient === undefined) clients.set(range.client, [range])
      else ofClient.push(range)
    }
    for (const ofClient of clients.values()) ofClient.sort((a, b) => a.clock - b.clock)
    return new RangeIndex(clients)
  }

  at(client: number, clock: number): RangeAnswer<T> {
    const ranges = this.#clients.get(client)
    if (ranges === undefined) return nothing
    // The first range that ends after the clock.
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
}

const nothing = { range: null, end: Number.POSITIVE_INFINITY } as const
