import { isDeepStrictEqual } from 'node:util'
import { escapePointer } from '../../base/json.ts'
import { addTo, memoized } from '../../base/maps.ts'
import { diffTokens, type Hunk } from '../diff/diff.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { setMember, toJson } from '../json/json.ts'
import { idTokenOf } from '../values/match-elements.ts'
import type { MergeSide, Overlap } from './overlap.ts'

/** A plain value; `undefined`: there is none. */
type Plain = unknown

/** The values of a place at the base, and on both sides. */
export interface ThreeWay<T> {
  readonly base: T
  readonly theirs: T
  readonly mine: T
}

/** Makes a value for the base, and for each side. */
export const threeWay = <T>(make: (version: keyof ThreeWay<T>) => T): ThreeWay<T> => ({
  base: make('base'),
  theirs: make('theirs'),
  mine: make('mine'),
})

/** Maximum steps of comparing lists in one merge. Beyond it, the result is coarser. */
const listStepsMax = 4_000_000

/** Merges plain values. A scalar is changed by one side only; overlaps have the values of the kept side. */
export class ValueMerger {
  readonly overlaps: Overlap[] = []
  readonly kept: MergeSide
  readonly #budget: DiffBudget = { steps: listStepsMax }

  constructor(kept: MergeSide) {
    this.kept = kept
  }

  /** @param path JSON pointer to the values */
  merge({ base, theirs, mine }: ThreeWay<Plain>, path: string): Plain {
    if (isDeepStrictEqual(theirs, mine) || isDeepStrictEqual(base, mine)) return theirs
    if (isDeepStrictEqual(base, theirs)) return mine
    if (isMembers(theirs) && isMembers(mine))
      return this.#members({ base: isMembers(base) ? base : {}, theirs, mine }, path)
    if (Array.isArray(theirs) && Array.isArray(mine))
      return this.list({ base: Array.isArray(base) ? base : [], theirs, mine }, path)
    return this.#overlap({ base, theirs, mine }, path)
  }

  /**
   * Merges lists item by item. Items with an id are the same item if their ids are equal.
   * @param first index of the first item
   */
  list(lists: ThreeWay<readonly Plain[]>, path: string, first = 0): Plain[] {
    return new ListMerge(this, lists, { path, first }, this.#budget).run()
  }

  /** Reports an overlap. Returns the values of the kept side. */
  overlap<T>(values: ThreeWay<T>, path: string): T {
    this.#overlap(values, path)
    return values[this.kept]
  }

  #overlap({ base, theirs, mine }: ThreeWay<Plain>, path: string): Plain {
    const members = Object.entries({ base, theirs, mine }).filter(([, value]) => value !== undefined)
    this.overlaps.push({ path, ...Object.fromEntries(members), kept: this.kept })
    return this.kept === 'theirs' ? theirs : mine
  }

  #members(members: ThreeWay<JsonMembers>, path: string): JsonMembers {
    const merged: Record<string, never> = {}
    for (const key of new Set([...Object.keys(members.theirs), ...Object.keys(members.mine)])) {
      const values = threeWay((version) => own(members[version], key))
      const value = this.merge(values, `${path}/${escapePointer(key)}`)
      if (value !== undefined) setMember(merged, key, value as never)
    }
    return merged
  }
}

type JsonMembers = Readonly<Record<string, unknown>>

const own = (members: JsonMembers, key: string): unknown =>
  Object.hasOwn(members, key) ? members[key] : undefined

function isMembers(value: unknown): value is JsonMembers {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

interface ListPlace {
  readonly path: string
  /** Index of the first item. */
  readonly first: number
}

/**
 * Merges three lists: by the ids of their items, if each item of a list has an id of its own, otherwise by the differences
 * between the base and both sides.
 */
class ListMerge {
  readonly #merger: ValueMerger
  readonly #lists: ThreeWay<readonly Plain[]>
  readonly #place: ListPlace
  /** A number for each item. Items that are the same have the same number. */
  readonly #numbers: ThreeWay<Int32Array>
  readonly #numberOf: (item: Plain) => number
  /** The hunks that are left, the next one last. */
  readonly #hunks: Record<MergeSide, Hunk[]>
  readonly #merged: Plain[] = []
  /** From an index of the base to the index of a side. */
  readonly #offsets = { theirs: 0, mine: 0 }

  constructor(merger: ValueMerger, lists: ThreeWay<readonly Plain[]>, place: ListPlace, budget: DiffBudget) {
    this.#merger = merger
    this.#lists = lists
    this.#place = place
    const numbers = new Map<string, number>()
    this.#numberOf = (item) => numberOf(item, numbers)
    this.#numbers = threeWay((version) => Int32Array.from(lists[version], this.#numberOf))
    const { base, theirs, mine } = this.#numbers
    this.#hunks = {
      theirs: diffTokens(base, theirs, budget).reverse(),
      mine: diffTokens(base, mine, budget).reverse(),
    }
  }

  run(): Plain[] {
    const [base, theirs, mine] = [this.#items('base'), this.#items('theirs'), this.#items('mine')]
    if (base !== null && theirs !== null && mine !== null) return this.#byId({ base, theirs, mine })
    const known = this.#merger.overlaps.length
    this.#byHunks()
    if (this.#isComplete()) return this.#merged
    this.#merger.overlaps.length = known
    return [...this.#merger.overlap(this.#lists, `${this.#place.path}/${this.#place.first}`)]
  }

  /** Returns the items of a version by their numbers; null if an item has no id, or if two items have the same id. */
  #items(version: 'base' | MergeSide): Items | null {
    const list = this.#lists[version]
    const items = new Map(list.map((item, at) => [this.#numbers[version][at] as number, item]))
    return items.size === list.length && list.every((item) => idTokenOf(item) !== null) ? items : null
  }

  /** Merges each item, in the order of theirs with the items that mine has inserted or moved. */
  #byId({ base, theirs, mine }: ThreeWay<Items>): Plain[] {
    const [movedByTheirs, movedByMine] = [this.#moved('theirs', base), this.#moved('mine', base)]
    const isPlacedByMine = (item: number): boolean =>
      !theirs.has(item) ||
      (movedByMine.has(item) && (this.#merger.kept === 'mine' || !movedByTheirs.has(item)))
    /** Items that mine has placed, by the item of both sides before them. */
    const after = new Map<number | null, number[]>()
    let last: number | null = null
    for (const item of mine.keys())
      if (isPlacedByMine(item)) addTo(after, last, item)
      else last = item
    const add = (items: Iterable<number>): void => {
      for (const item of items) {
        const values = { base: base.get(item), theirs: theirs.get(item), mine: mine.get(item) }
        const merged = this.#merger.merge(values, this.#nextPath())
        if (merged !== undefined) this.#merged.push(merged)
      }
    }
    last = null
    for (const item of theirs.keys()) {
      if (mine.has(item)) {
        if (isPlacedByMine(item)) continue
        // Insertions of theirs at the same place come first.
        add(after.get(last) ?? [])
        last = item
      }
      add([item])
    }
    add(after.get(last) ?? [])
    return this.#merged
  }

  /** Returns the items of the base that a side has moved. */
  #moved(side: MergeSide, base: Items): ReadonlySet<number> {
    const inserted = this.#hunks[side].flatMap(({ bStart, bEnd }) => [
      ...this.#numbers[side].subarray(bStart, bEnd),
    ])
    return new Set(inserted.filter((item) => base.has(item)))
  }

  /** Returns whether no item is lost or doubled, as an item is that both sides have moved. */
  #isComplete(): boolean {
    const { base, theirs, mine } = this.#numbers
    const counts = [base, theirs, mine, this.#merged.map(this.#numberOf)].map(counted)
    const isComplete = (item: number, hasId: boolean): boolean => {
      const [b = 0, t = 0, m = 0, result = 0] = counts.map((each) => each.get(item))
      const both = t + m - b
      return result >= Math.min(t, m, both) && result <= Math.max(t, m, hasId ? 0 : both)
    }
    return (['theirs', 'mine'] as const).every((side) =>
      this.#lists[side].every((item, at) =>
        isComplete(this.#numbers[side][at] as number, idTokenOf(item) !== null),
      ),
    )
  }

  #byHunks(): void {
    let at = 0
    for (let range = this.#nextRange(); range !== null; range = this.#nextRange()) {
      this.#stay(at, range.start)
      this.#change(range)
      at = range.end
    }
    this.#stay(at, this.#lists.base.length)
  }

  /** Takes the next changed range of the base, with all hunks of both sides that overlap with each other. */
  #nextRange(): ChangedRange | null {
    const { theirs, mine } = this.#hunks
    const [a, b] = [theirs.at(-1), mine.at(-1)]
    const first = a === undefined || (b !== undefined && precedes(b, a)) ? b : a
    if (first === undefined) return null
    const range = { start: first.aStart, end: first.aEnd, theirs: 0, mine: 0, sides: new Set<MergeSide>() }
    const take = (side: MergeSide): void => {
      const { aStart, aEnd, bStart, bEnd } = this.#hunks[side].pop() as Hunk
      range.end = Math.max(range.end, aEnd)
      range[side] += bEnd - bStart - (aEnd - aStart)
      range.sides.add(side)
    }
    take(first === a ? 'theirs' : 'mine')
    for (;;) {
      if (isInside(theirs.at(-1), range)) take('theirs')
      else if (isInside(mine.at(-1), range)) take('mine')
      else return range
    }
  }

  /** Adds items of the base that both sides have. */
  #stay(from: number, to: number): void {
    const { base, theirs, mine } = this.#lists
    for (let at = from; at < to; at++)
      this.#item({
        base: base[at],
        theirs: theirs[at + this.#offsets.theirs],
        mine: mine[at + this.#offsets.mine],
      })
  }

  #change(range: ChangedRange): void {
    const slices = { base: this.#lists.base.slice(range.start, range.end), ...this.#sidesOf(range) }
    const { base, theirs, mine } = slices
    const { sides } = range
    // A side without a hunk can have changed members of items that the other side has replaced.
    if (!sides.has('mine') && isDeepStrictEqual(base, mine)) return this.#add(theirs)
    if (!sides.has('theirs') && isDeepStrictEqual(base, theirs)) return this.#add(mine)
    if (isDeepStrictEqual(theirs, mine)) return this.#add(theirs)
    if (base.length === 0) return this.#add([...theirs, ...mine])
    if (theirs.length === base.length && mine.length === base.length && !Object.values(slices).some(hasIds)) {
      for (const [at, value] of base.entries())
        this.#item({ base: value, theirs: theirs[at], mine: mine[at] })
    } else this.#add(this.#merger.overlap(slices, this.#nextPath()))
  }

  #sidesOf(range: ChangedRange): Omit<ThreeWay<readonly Plain[]>, 'base'> {
    const sliceOf = (side: MergeSide): readonly Plain[] => {
      const start = range.start + this.#offsets[side]
      this.#offsets[side] += range[side]
      return this.#lists[side].slice(start, range.end + this.#offsets[side])
    }
    return { theirs: sliceOf('theirs'), mine: sliceOf('mine') }
  }

  #add(items: readonly Plain[]): void {
    for (const item of items) this.#merged.push(item)
  }

  #item(values: ThreeWay<Plain>): void {
    this.#merged.push(this.#merger.merge(values, this.#nextPath()))
  }

  #nextPath(): string {
    return `${this.#place.path}/${this.#place.first + this.#merged.length}`
  }
}

/** The items of a list, by their numbers. */
type Items = ReadonlyMap<number, Plain>

function counted(numbers: Iterable<number>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return counts
}

/** A range of the base, and by how many items each side is longer there. */
interface ChangedRange extends Readonly<Record<MergeSide, number>> {
  readonly start: number
  readonly end: number
  /** The sides that have a hunk in the range. */
  readonly sides: ReadonlySet<MergeSide>
}

/** Returns whether a hunk comes first. Of two hunks with the same start, an insertion does. */
const precedes = (a: Hunk, b: Hunk): boolean =>
  a.aStart < b.aStart || (a.aStart === b.aStart && a.aEnd === a.aStart && b.aEnd > b.aStart)

/** Returns whether a hunk overlaps with a range: it has an item in common, inserts inside, or at the same gap. */
const isInside = (hunk: Hunk | undefined, { start, end }: Pick<ChangedRange, 'start' | 'end'>): boolean =>
  hunk !== undefined &&
  (start === end ? hunk.aStart === start && hunk.aEnd === start : hunk.aStart < end && hunk.aEnd > start)

const hasIds = (items: readonly Plain[]): boolean => items.some((item) => idTokenOf(item) !== null)

/** Returns a number that two items have in common if they are the same item. */
function numberOf(item: Plain, numbers: Map<string, number>): number {
  const token = idTokenOf(item) ?? `= ${JSON.stringify(toJson(item) ?? null)}`
  return memoized(numbers, token, () => numbers.size)
}
