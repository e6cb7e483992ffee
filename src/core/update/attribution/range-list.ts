import { firstIndex } from '../../base/search.ts'
import type { ChangeOrigin } from '../../model/change-origin.ts'
import type { AttributedRange } from './attribution.ts'

/** Ranges of clocks in order. `to` is the clock after the last one of a range. */
interface Chunk {
  readonly from: number[]
  readonly to: number[]
  readonly origins: ChangeOrigin[]
}

/** Number of ranges at which a chunk is split, so that an insertion moves few ranges. */
const chunkMax = 128

const noChunks: Chunk[] = []
const emptyChunk = (): Chunk => ({ from: [], to: [], origins: [] })
const endOf = ({ to }: Chunk): number => to.at(-1) ?? 0

/**
 * The attributed ids of one client as disjoint ranges in the order of their clocks. A clock keeps the first
 * origin that it gets. Adding a range takes logarithmic time, plus the time for the ranges that it covers.
 */
export class RangeList {
  /** The only range. It needs no chunk: a document may have a hundred thousand clients with one range each. */
  #only: { readonly clock: number; length: number; readonly origin: ChangeOrigin } | null = null
  #chunks: Chunk[] = noChunks

  /** @param ranges disjoint ranges in the order of their clocks */
  static of(ranges: readonly AttributedRange[]): RangeList {
    const list = new RangeList()
    for (const { clock, length, origin } of ranges) list.#push(clock, clock + length, origin)
    return list
  }

  /**
   * Gives the clocks of a range that have no origin yet an origin.
   * @param origin called only if there are such clocks
   */
  add(from: number, to: number, origin: () => ChangeOrigin): void {
    if (this.#end <= from) return this.#push(from, to, origin())
    this.#makeChunks()
    let clock = from
    while (clock < to) {
      const at = this.#chunkAt(clock)
      if (at === this.#chunks.length) return this.#push(clock, to, origin())
      clock = this.#addInChunk(at, clock, to, origin)
    }
  }

  /** Returns the ranges in the order of their clocks. */
  ranges(): AttributedRange[] {
    if (this.#only !== null) return [{ ...this.#only }]
    const ranges: AttributedRange[] = []
    for (const { from, to, origins } of this.#chunks)
      for (const [index, clock] of from.entries())
        ranges.push({
          clock,
          length: (to[index] as number) - clock,
          origin: origins[index] as ChangeOrigin,
        })
    return ranges
  }

  /** The clock after the last range. */
  get #end(): number {
    if (this.#only !== null) return this.#only.clock + this.#only.length
    const last = this.#chunks.at(-1)
    return last === undefined ? 0 : endOf(last)
  }

  #makeChunks(): void {
    if (this.#only === null) return
    const { clock, length, origin } = this.#only
    this.#chunks = [{ from: [clock], to: [clock + length], origins: [origin] }]
    this.#only = null
  }

  /** Adds a range after all others. */
  #push(from: number, to: number, origin: ChangeOrigin): void {
    if (this.#only === null && this.#chunks.length === 0) {
      this.#only = { clock: from, length: to - from, origin }
      return
    }
    if (this.#only !== null && this.#only.origin === origin && this.#end === from) {
      this.#only.length += to - from
      return
    }
    this.#makeChunks()
    let chunk = this.#chunks.at(-1) as Chunk
    const last = chunk.to.length - 1
    if (last >= 0 && chunk.to[last] === from && chunk.origins[last] === origin) {
      chunk.to[last] = to
      return
    }
    if (last + 1 >= chunkMax) {
      chunk = emptyChunk()
      this.#chunks.push(chunk)
    }
    chunk.from.push(from)
    chunk.to.push(to)
    chunk.origins.push(origin)
  }

  /** Returns the index of the first chunk that ends after a clock. */
  #chunkAt(clock: number): number {
    return firstIndex(this.#chunks.length, (at) => endOf(this.#chunks[at] as Chunk) > clock)
  }

  /**
   * Fills the clocks between `from` and `to`, up to the end of a chunk. The chunk is the first one that ends
   * after `from`. Returns the clock up to which the clocks now have an origin.
   */
  #addInChunk(at: number, from: number, to: number, origin: () => ChangeOrigin): number {
    const chunk = this.#chunks[at] as Chunk
    let clock = from
    for (let index = firstAfter(chunk.to, from); index < chunk.to.length; index++) {
      const start = chunk.from[index] as number
      if (start > clock) {
        const end = Math.min(start, to)
        if (this.#insert(at, index, clock, end, origin()) || end === to) return end
      }
      clock = Math.max(clock, chunk.to[index] as number)
      if (clock >= to) return clock
    }
    return clock
  }

  /**
   * Inserts a range before the range `index` of a chunk, or extends a range next to it that has the same
   * origin. Returns true if the indexes of the chunk have changed.
   */
  #insert(at: number, index: number, from: number, to: number, origin: ChangeOrigin): boolean {
    const chunk = this.#chunks[at] as Chunk
    if (index > 0 && chunk.to[index - 1] === from && chunk.origins[index - 1] === origin) {
      chunk.to[index - 1] = to
      return false
    }
    if (chunk.from[index] === to && chunk.origins[index] === origin) {
      chunk.from[index] = from
      return false
    }
    chunk.from.splice(index, 0, from)
    chunk.to.splice(index, 0, to)
    chunk.origins.splice(index, 0, origin)
    if (chunk.from.length > chunkMax) {
      const half = chunkMax / 2
      this.#chunks.splice(at + 1, 0, {
        from: chunk.from.splice(half),
        to: chunk.to.splice(half),
        origins: chunk.origins.splice(half),
      })
    }
    return true
  }
}

/** Returns the index of the first number that is greater than `clock`, in ascending numbers. */
const firstAfter = (numbers: readonly number[], clock: number): number =>
  firstIndex(numbers.length, (at) => (numbers[at] as number) > clock)
