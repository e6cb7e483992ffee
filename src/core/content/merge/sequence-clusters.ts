import { addTo } from '../../base/maps.ts'
import { Graphemes } from '../text/graphemes.ts'
import type { MergeSide } from './overlap.ts'
import { startsPart, wordsIn, wordTexts } from './words.ts'

/** The versions of a sequence that have a unit, as bits. */
export const inBase = 1
export const inTheirs = 2
export const inMine = 4
/** The unit is an element in which one side has changed something, and which the other side has deleted. */
export const editedByTheirs = 8
export const editedByMine = 16
/** The unit was content of others, and no version has it. `mine` restores it, unless it is in a cluster. */
export const restoredByMine = 32
/** The unit was content of others, and no version has it. It stays deleted. */
export const deletedOfTheirs = 64

export const bitOf = { base: inBase, theirs: inTheirs, mine: inMine } as const

const ofOthers = inTheirs | restoredByMine | deletedOfTheirs

const everywhere = inBase | inTheirs | inMine

/** Stands for a unit that is not text. */
export const elementUnit = '\ufffc'

/** A sequence with the units of all versions, in the order of the merged sequence. */
export interface MergedUnits {
  /** One UTF-16 unit for each character, and `elementUnit` for every other unit. */
  readonly text: string
  /** For each unit, the versions that have it. */
  readonly bits: Uint8Array
  /** Returns the id of an item in an array; null if it has none. */
  readonly idOf: (index: number) => string | null
  /** Returns a string for a unit that is not text. Equal content has equal strings. */
  readonly formOf: (index: number, side: MergeSide) => string
}

/** Units that both sides have changed, in their order. */
export interface UnitCluster {
  readonly indexes: readonly number[]
  /** True if both sides have the same content there. */
  readonly isSame: boolean
}

interface ClusterOptions {
  readonly kept: MergeSide
  /** True if an insertion of both sides at the same place stays twice. */
  readonly repeatsInsertions: boolean
  /**
   * True if the changes of a side to different words do not depend on each other. Then a cluster is one word, or a space
   * of theirs that stays between words of theirs.
   */
  readonly areWordsSeparate?: boolean
}

/**
 * Finds the places that both sides have changed. No word of the merged content then consists of parts of two
 * versions, if each cluster gets the content of one side. The time is linear, apart from windows that have no
 * unchanged space.
 */
export function* clustersIn(units: MergedUnits, options: ClusterOptions): Generator<UnitCluster> {
  const items = itemsIn(units)
  if (items !== null) yield* new Window(units, 0, units.bits.length, options).ofItems(items)
  else
    for (const { start, end } of changedWindows(units))
      yield* new Window(units, start, end, options).clusters()
}

/** Returns the units of each item by its id; null if a unit has no id, or if a version has an id twice. */
function itemsIn({ bits, idOf }: MergedUnits): readonly (readonly number[])[] | null {
  const items = new Map<string, number[]>()
  for (let at = 0; at < bits.length; at++) {
    const id = idOf(at)
    if (id === null) return null
    addTo(items, id, at)
  }
  const isUnique = (indexes: readonly number[]): boolean =>
    [inBase, inTheirs, inMine].every(
      (view) => indexes.filter((at) => ((bits[at] as number) & view) !== 0).length <= 1,
    )
  const found = [...items.values()]
  return found.every(isUnique) ? found : null
}

const isChangedBy = (side: number, bits: number): boolean =>
  ((bits & inBase) === 0) !== ((bits & side) === 0) ||
  (bits & (side === inTheirs ? editedByTheirs | deletedOfTheirs : editedByMine | restoredByMine)) !== 0

/**
 * Returns ranges between units that no side has changed and that no word contains, if both sides have changed them. A
 * long unchanged range without spaces ends between two words or user-perceived characters.
 */
function* changedWindows({ text, bits }: MergedUnits): Generator<{ start: number; end: number }> {
  const graphemes = new Graphemes()
  let [start, unchanged] = [0, 0]
  let [theirs, mine] = [false, false]
  for (let at = 0; at <= bits.length; at++) {
    const unit = bits[at]
    const isEnd =
      unit === undefined ||
      (unit === everywhere &&
        (separates(text.charCodeAt(at)) ||
          (unchanged >= unchangedMax && startsPart(text, at) && graphemes.isBoundary(text, at))))
    if (isEnd) {
      if (theirs && mine) yield { start, end: at }
      // A combining mark can follow the space.
      start = at
      unchanged = 0
      ;[theirs, mine] = [false, false]
    } else if (unit === everywhere) unchanged += 1
    else {
      unchanged = 0
      theirs ||= isChangedBy(inTheirs, unit) || unit === restoredByMine
      mine ||= isChangedBy(inMine, unit)
    }
  }
}

/** Minimum number of unchanged units after which a window ends without a space. */
const unchangedMax = 128

/** Returns whether a UTF-16 unit separates words. */
export const separates = (unit: number): boolean =>
  unit === 32 || unit === 9 || unit === 10 || unit === 0xfffc

/** Maximum rounds in which clusters grow. If they still grow, the whole window is one cluster. */
const roundsMax = 10

/** Finds the clusters of one window. */
class Window {
  readonly #units: MergedUnits
  readonly #start: number
  readonly #end: number
  readonly #options: ClusterOptions
  /** The parent of each unit in a forest; units of the same tree are in one cluster. */
  readonly #parents: Int32Array

  constructor(units: MergedUnits, start: number, end: number, options: ClusterOptions) {
    this.#units = units
    this.#start = start
    this.#end = end
    this.#options = options
    this.#parents = Int32Array.from({ length: end - start }, (_, at) => at)
  }

  clusters(): readonly UnitCluster[] {
    for (const view of [inBase, inTheirs, inMine]) this.#joinWords(view)
    return this.#options.areWordsSeparate === true ? this.#ofWords() : this.#ofRuns()
  }

  /** Returns the clusters of items that can be moved. Each one has the units of one item. */
  ofItems(items: readonly (readonly number[])[]): readonly UnitCluster[] {
    for (const indexes of items) for (const at of indexes) this.#join(indexes[0] as number, at)
    return this.#changed()
  }

  #ofWords(): readonly UnitCluster[] {
    this.#joinWords(ofOthers)
    if (this.#hasReplacedElements()) {
      const indexes = this.#indexes((at) => this.#at(at) !== everywhere)
      return [{ indexes, isSame: this.#form(indexes, 'theirs') === this.#form(indexes, 'mine') }]
    }
    /** Units that stay as in `theirs`. */
    const kept = new Set<number>()
    for (let round = 0; round < roundsMax; round++) {
      const found = [...this.#changed(), ...[...kept].map((at) => ({ indexes: [at], isSame: true }))]
      const unknown = [...this.#unknownWords(found)]
      if (unknown.length === 0) return found
      for (const word of unknown) {
        const restored = word.filter((at) => this.#at(at) === restoredByMine)
        const space = this.#spaceIn(word)
        if (restored.length > 0) for (const at of [...restored, ...this.#replacing(restored)]) kept.add(at)
        else if (space !== null) kept.add(space)
        else this.#joinRange(word[0] as number, word.at(-1) as number)
      }
    }
    return this.#asOne()
  }

  /**
   * Returns whether `theirs` has also changed elements that `mine` replaces, or inserted elements among them. Neither
   * words nor places show which element has become which, so the window is one change then.
   */
  #hasReplacedElements(): boolean {
    const elements = this.#indexes((at) => this.#units.text[at] === elementUnit)
    const replaced = elements.filter((at) => this.#has(at, inBase) && !this.#has(at, inMine))
    const restored = elements.filter((at) => this.#isInsertion(at, inMine | restoredByMine))
    if (replaced.length === 0 || restored.length === 0) return false
    if (replaced.some((at) => !this.#has(at, inTheirs))) return true
    const changed = [...replaced, ...restored.filter((at) => this.#has(at, inMine))].sort((a, b) => a - b)
    const [first = 0, last = 0] = [changed[0], changed.at(-1)]
    return elements.some((at) => at > first && at < last && this.#isInsertion(at, inTheirs | restoredByMine))
  }

  /** Returns a space that separates the units of a word in `theirs`, and not in the result; null without one. */
  #spaceIn(word: readonly number[]): number | null {
    for (const [n, start] of word.entries())
      for (let at = start + 1; at < (word[n + 1] ?? start); at++)
        if (this.#has(at, inTheirs) && separates(this.#units.text.charCodeAt(at))) return at
    return null
  }

  /** Returns the units that only `mine` deletes, in the words that have one of the units. @param units in their order */
  *#replacing(units: readonly number[]): Generator<number> {
    const isSpace = (at: number): boolean => separates(this.#units.text.charCodeAt(at))
    let end = this.#start
    for (const at of units) {
      if (at < end) continue
      let start = at
      while (start > end && !isSpace(start - 1)) start -= 1
      for (end = start; end < this.#end && !isSpace(end); end++)
        if (this.#at(end) === (inBase | inTheirs)) yield end
    }
  }

  #ofRuns(): readonly UnitCluster[] {
    this.#joinWords(0)
    const runs = [...this.#runs(inTheirs), ...this.#runs(inMine)]
    for (const run of runs) if (this.#isReplacement(run)) this.#joinRun(run)
    if (!this.#options.repeatsInsertions) this.#joinEqualInsertions()
    let found = this.#changed()
    // A side that loses a part of a change loses the whole change.
    for (let round = 0; round < roundsMax; round++) {
      const lost = new Set(found.flatMap(({ indexes }) => indexes))
      for (const run of runs) if (run.units.some((at) => lost.has(at))) this.#joinRun(run)
      const joined = this.#changed()
      if (sizeOf(joined) === sizeOf(found)) return this.#isWhole(found) ? found : this.#asOne()
      found = joined
    }
    return this.#asOne()
  }

  #at(at: number): number {
    return this.#units.bits[at] as number
  }

  #has(at: number, view: number): boolean {
    const bits = this.#at(at)
    if (view !== 0) return (bits & view) !== 0
    return bits === everywhere || (bits & (inBase | deletedOfTheirs)) === 0
  }

  /** Joins the units of each word of a version. The version 0 has the changes of both sides. */
  #joinWords(view: number): void {
    const indexes = this.#indexes((at) => this.#has(at, view))
    for (const { start, end } of wordsIn(this.#textOf(indexes)))
      this.#joinRange(indexes[start] as number, indexes[end - 1] as number)
  }

  #joinRange(first: number, last: number): void {
    for (let at = first + 1; at <= last; at++) this.#join(first, at)
  }

  /** Returns the changes of a side: adjacent units, apart from insertions of the other side. */
  *#runs(side: number): Generator<Run> {
    let units: number[] = []
    const run = (): Run => {
      const deleted = units.filter((at) => (this.#at(at) & inBase) !== 0)
      const inside: number[] = []
      for (let at = (deleted[0] ?? 0) + 1; at < (deleted.at(-1) ?? 0); at++)
        if (this.#isInsertion(at, other(side))) inside.push(at)
      return { units, isMixed: deleted.length > 0 && deleted.length < units.length, inside }
    }
    for (let at = this.#start; at < this.#end; at++) {
      if (isChangedBy(side, this.#at(at))) units.push(at)
      else if ((this.#at(at) & (inBase | side)) !== 0) {
        if (units.length > 0) yield run()
        units = []
      }
    }
    if (units.length > 0) yield run()
  }

  #isInsertion(at: number, side: number): boolean {
    const bits = this.#at(at)
    return (bits & inBase) === 0 && (bits & side) !== 0
  }

  #isReplacement = ({ isMixed, inside }: Run): boolean => isMixed || inside.length > 0

  #joinRun({ units, inside }: Run): void {
    const [first = 0] = units
    for (const at of units) this.#join(first, at)
    for (const at of inside) this.#join(first, at)
  }

  /** Joins insertions of both sides at the same place, if they are equal or have an item with the same id. */
  #joinEqualInsertions(): void {
    let [theirs, mine]: [number[], number[]] = [[], []]
    const compare = (): void => {
      if (theirs.length > 0 && mine.length > 0 && this.#isAgain(theirs, mine))
        for (const at of [...theirs, ...mine]) this.#join(theirs[0] as number, at)
      ;[theirs, mine] = [[], []]
    }
    for (let at = this.#start; at < this.#end; at++) {
      if (this.#isInsertion(at, inTheirs)) theirs.push(at)
      else if (this.#isInsertion(at, inMine)) mine.push(at)
      else if ((this.#at(at) & inBase) !== 0) compare()
    }
    compare()
  }

  #isAgain(theirs: readonly number[], mine: readonly number[]): boolean {
    if (this.#form(theirs, 'theirs') === this.#form(mine, 'mine')) return true
    const ids = new Set(theirs.map(this.#units.idOf))
    return mine.map(this.#units.idOf).some((id) => id !== null && ids.has(id))
  }

  /** Returns the clusters that both sides have changed. */
  #changed(): UnitCluster[] {
    const members = new Map<number, number[]>()
    for (let at = this.#start; at < this.#end; at++) {
      const root = this.#rootOf(at)
      addTo(members, root, at)
    }
    const clusters: UnitCluster[] = []
    for (const indexes of members.values()) {
      const has = (side: number): boolean => indexes.some((at) => isChangedBy(side, this.#at(at)))
      if (!has(inTheirs) || !has(inMine)) continue
      const isSame = this.#form(indexes, 'theirs') === this.#form(indexes, 'mine')
      if (!isSame || indexes.some((at) => this.#isInsertion(at, inMine | restoredByMine) || this.#isTorn(at)))
        clusters.push({ indexes, isSame })
    }
    return clusters
  }

  /** Returns whether only one side has kept a unit of the base. */
  #isTorn(at: number): boolean {
    const bits = this.#at(at)
    return (bits & inBase) !== 0 && ((bits & inTheirs) === 0) !== ((bits & inMine) === 0)
  }

  #form(indexes: readonly number[], side: MergeSide): string {
    const view = side === 'theirs' ? inTheirs : inMine
    let form = ''
    for (const at of indexes) {
      if ((this.#at(at) & view) === 0) continue
      const unit = this.#units.text[at] as string
      form += unit === elementUnit ? this.#units.formOf(at, side) : unit
    }
    return form
  }

  /** Returns whether each word of the result is a word of a version. */
  #isWhole(found: readonly UnitCluster[]): boolean {
    return this.#unknownWords(found).next().done === true
  }

  /** Returns the units of each word of the result that is not a word of a version. */
  *#unknownWords(found: readonly UnitCluster[]): Generator<readonly number[]> {
    const sides = new Map<number, number>()
    for (const { indexes, isSame } of found)
      for (const at of indexes) sides.set(at, isSame || this.#options.kept === 'theirs' ? inTheirs : inMine)
    const wordsOf = (view: number): ReadonlySet<string> =>
      wordTexts(this.#textOf(this.#indexes((at) => this.#has(at, view))))
    // With separate words, a user may never have seen the base: it lacks the later changes of others.
    const views = this.#options.areWordsSeparate === true ? [] : [inBase]
    const known = [...views, inTheirs, inMine].map(wordsOf)
    const restored = [inBase, inMine].map((view) => wordsOf(view | restoredByMine | deletedOfTheirs))
    const result = this.#indexes((at) => this.#has(at, sides.get(at) ?? 0))
    const text = this.#textOf(result)
    for (const { start, end } of wordsIn(text)) {
      const word = text.slice(start, end)
      if (known.some((words) => words.has(word)) || restored.every((words) => words.has(word))) continue
      yield result.slice(start, end)
    }
  }

  #indexes(has: (at: number) => boolean): readonly number[] {
    const indexes: number[] = []
    for (let at = this.#start; at < this.#end; at++) if (has(at)) indexes.push(at)
    return indexes
  }

  #textOf = (indexes: readonly number[]): string => indexes.map((at) => this.#units.text[at]).join('')

  /** Returns the whole window as one cluster. */
  #asOne(): readonly UnitCluster[] {
    if (this.#end > this.#start) this.#joinRange(this.#start, this.#end - 1)
    return this.#changed()
  }

  #join(a: number, b: number): void {
    const [x, y] = [this.#rootOf(a) - this.#start, this.#rootOf(b) - this.#start]
    if (x !== y) this.#parents[Math.max(x, y)] = Math.min(x, y)
  }

  #rootOf(at: number): number {
    let root = at - this.#start
    while (this.#parents[root] !== root) {
      const parent = this.#parents[root] as number
      this.#parents[root] = this.#parents[parent] as number
      root = this.#parents[root] as number
    }
    return root + this.#start
  }
}

/** Adjacent changes of one side. */
interface Run {
  readonly units: readonly number[]
  /** True if the side has inserted and deleted units. */
  readonly isMixed: boolean
  /** Insertions of the other side between the first and the last unit that this side has deleted. */
  readonly inside: readonly number[]
}

const other = (side: number): number => (side === inTheirs ? inMine : inTheirs)

const sizeOf = (clusters: readonly UnitCluster[]): number =>
  clusters.reduce((sum, { indexes }) => sum + indexes.length, 0)
