import * as Y from 'yjs'
import { memoized } from '../base/maps.ts'
import { forDeletions } from './deletions.ts'
import { charactersPerStep, copiedBySplit, movedPerStep, stepsOfSplit, structsOf } from './integration.ts'
import { struct } from './item-content.ts'
import type { StoredId } from './range-index.ts'
import { type ReadItem, readUpdate } from './read-update.ts'
import type { UpdateSummary } from './summary.ts'

/**
 * Estimates the number of steps that Yjs needs to integrate a vetted update into `doc`. The estimate is at
 * least a third of the actual number. It costs one pass over the update, a binary search for each position at
 * which the update inserts, and a pass over the deleted items, up to `deletedMax` and `coveredMax`. Does not
 * change `doc`.
 *
 * An item is free if the two items between which it was inserted are still neighbors. Any other item is
 * contested: the conflict scan for it may visit the whole list. The prediction tracks the neighbors that the
 * update itself inserts. After a contested insertion, insertions next to the changed neighbors also count as
 * contested.
 */
export function predictSteps(bytes: Uint8Array, doc: Y.Doc): number {
  const prediction = new Prediction(doc)
  prediction.add(bytes)
  return prediction.steps
}

/**
 * Returns the steps that Yjs needs for the deletions of a vetted update, without those of items that `doc` does not
 * have. The deletion of a type deletes everything inside it.
 */
export function deletionSteps(
  bytes: Uint8Array,
  outline: Pick<UpdateSummary, 'structsEnd'>,
  doc: Y.Doc,
): number {
  const prediction = new Prediction(doc)
  forDeletions(bytes, outline, (client, clock, length) => prediction.deletion(client, clock, length))
  return prediction.steps
}

type SharedType = Y.ContentType['type']

/**
 * The item that follows a given item in its list; null if there is none; `contested` if it is unknown because
 * of a contested insertion.
 */
type Neighbor = StoredId | null | 'contested'

/**
 * Number of steps to visit an item in a conflict scan: one, or several if the origin of the item must be
 * looked up.
 */
const stepsOfPassed = 3

/**
 * Number of steps to delete an item. A deletion takes about 1.5 microseconds, because Yjs records, collects
 * and merges the item.
 */
export const stepsOfDeletion = 100

/**
 * Maximum number of deleted items, and maximum number of structs in deleted ranges, that the prediction
 * counts. An update that exceeds either number is already too expensive.
 */
const deletedMax = 10_000
const coveredMax = 1_000_000

/**
 * A prediction for several updates that are integrated together, in the order in which they are added. The
 * document must not change meanwhile.
 */
export class Prediction {
  readonly #doc: Y.Doc
  readonly #store: Y.Doc['store']
  /** The current right neighbors at the positions after which the update inserts, by client and clock. */
  readonly #rights = new Map<number, Map<number, Neighbor>>()
  /**
   * For each item at the start of a list that the update inserts or moves back: whether the item is currently
   * the first of its list. By client and clock.
   */
  readonly #firsts = new Map<number, Map<number, boolean>>()
  /** Lists and map keys into which the update has inserted an item without origins, by their parents. */
  readonly #begun = new Map<string | number, Set<string>>()
  /**
   * The previous item of the update if the document does not have it; otherwise null. Most items continue the
   * previous item.
   */
  #before: ReadItem | null = null
  #isStartContested = false
  /** Number of structs in the document; null until it is needed. */
  #structs: number | null = null
  #items = 0
  #contested = 0
  /** Number of structs in deleted ranges. */
  #covered = 0
  /** Number of deleted items, including nested ones. */
  #deleted = 0
  /** Number of array elements that splits shift. */
  #moved = 0
  /** Number of splits. Each one makes an array longer. */
  #splits = 0
  /** Number of steps to copy content that is split. */
  #copied = 0
  /**
   * Number of steps to copy the content of the longest new item. A split of a new item may need this number
   * of steps.
   */
  #copiedMax = 0

  constructor(doc: Y.Doc) {
    this.#doc = doc
    this.#store = doc.store
  }

  add(bytes: Uint8Array): void {
    readUpdate(bytes, this)
  }

  get steps(): number {
    const scanned = this.#contested === 0 ? 0 : this.#contested * this.#passedMax * stepsOfPassed
    return (
      this.#items +
      this.#covered +
      this.#deleted * stepsOfDeletion +
      scanned +
      this.#splits * stepsOfSplit +
      this.#copied +
      this.#moved / movedPerStep
    )
  }

  /** Maximum number of items that a conflict scan visits. */
  get #passedMax(): number {
    this.#structs ??= structsOf(this.#doc)
    return this.#structs + this.#items
  }

  item(item: ReadItem): void {
    const known = Y.getState(this.#store, item.client)
    const before = this.#before
    if (item.clock + item.length <= known) {
      this.#recordRowEnd(before)
      this.#before = null
      return
    }
    this.#items += 1
    if (item.kind === struct.any || item.kind === struct.json)
      this.#copiedMax = Math.max(this.#copiedMax, item.length)
    else if (item.kind === struct.string)
      this.#copiedMax = Math.max(this.#copiedMax, item.length / charactersPerStep)
    if (before === null || !continues(item, before)) {
      this.#recordRowEnd(before)
      if (!this.#insert(item, known)) this.#contested += 1
    }
    this.#before = item
  }

  deletion(client: number, clock: number, length: number): void {
    const known = Y.getState(this.#store, client)
    this.#delete(client, clock, Math.min(clock + length, known))
    if (clock + length > known) this.#covered += Math.min(length, this.#items)
    if (clock < known) this.#split(client, clock)
    if (clock + length < known) this.#split(client, clock + length)
    else this.#splitNew()
  }

  /**
   * Counts the structs and items of a deleted range. Each range costs one step for every struct in it, also
   * if ranges overlap. Items that are already deleted cost nothing in addition.
   */
  #delete(client: number, from: number, to: number): void {
    const structs = this.#store.clients.get(client)
    if (structs === undefined || from >= to) return
    const last = Y.findIndexSS(structs, to - 1)
    for (let index = Y.findIndexSS(structs, from); index <= last && !this.#isOverDeleted; index += 1) {
      this.#covered += 1
      const item = structs[index]
      if (item instanceof Y.Item && !item.deleted) this.#deleteItem(item)
    }
  }

  /**
   * Counts a deleted item and everything inside it. Stops when the number exceeds `deletedMax` or
   * `coveredMax`.
   */
  #deleteItem(item: Y.Item): void {
    const open = [item]
    for (let next = open.pop(); next !== undefined && !this.#isOverDeleted; next = open.pop()) {
      this.#deleted += 1
      if (!(next.content instanceof Y.ContentType)) continue
      const { type } = next.content
      for (let child = type._start; child !== null && !this.#isOverDeleted; child = child.right) {
        this.#covered += 1
        if (!child.deleted) open.push(child)
      }
      for (const value of type._map.values()) if (!value.deleted) open.push(value)
    }
  }

  get #isOverDeleted(): boolean {
    return this.#deleted > deletedMax || this.#covered > coveredMax
  }

  /**
   * Records the right neighbor of the last item of a run of consecutive items. Only the last item of a run
   * has a right neighbor outside the run, because the run is inserted as a whole.
   */
  #recordRowEnd(last: ReadItem | null): void {
    if (last !== null) set(this.#rights, last.client, last.clock + last.length - 1, last.rightOrigin)
  }

  /** Inserts an item. Returns whether the item is free. */
  #insert(item: ReadItem, known: number): boolean {
    if (item.clock < known) return this.#insertAfter({ client: item.client, clock: known - 1 }, item)
    if (item.origin !== null) return this.#insertAfter(item.origin, item)
    if (item.rightOrigin !== null) return this.#insertFirst(item.rightOrigin, item)
    return this.#begin(item)
  }

  #insertAfter(origin: StoredId, item: ReadItem): boolean {
    const right = this.#rightOf(origin)
    const isFree = right !== 'contested' && isSame(right, item.rightOrigin)
    set(this.#rights, origin.client, origin.clock, isFree ? item : 'contested')
    if (!isFree && item.rightOrigin !== null) this.#split(item.rightOrigin.client, item.rightOrigin.clock)
    return isFree
  }

  #rightOf({ client, clock }: StoredId): Neighbor {
    const inserted = this.#rights.get(client)?.get(clock)
    if (inserted !== undefined) return inserted
    const next = { client, clock: clock + 1 }
    if (clock >= Y.getState(this.#store, client)) {
      this.#splitNew()
      return next
    }
    const left = structAt(this.#store, client, clock)
    if (!(left instanceof Y.Item)) return null
    if (clock === left.id.clock + left.length - 1) return left.right?.id ?? null
    this.#split(client, clock + 1)
    return next
  }

  /**
   * Inserts an item before the item that was the first of its list at that time. Returns whether the new item
   * is free.
   */
  #insertFirst(right: StoredId, item: ReadItem): boolean {
    const isFree = !this.#isStartContested && this.#isFirst(right)
    if (isFree) set(this.#firsts, item.client, item.clock, true)
    else this.#split(right.client, right.clock)
    this.#isStartContested ||= !isFree
    set(this.#firsts, right.client, right.clock, false)
    return isFree
  }

  #isFirst({ client, clock }: StoredId): boolean {
    const inserted = this.#firsts.get(client)?.get(clock)
    if (inserted !== undefined) return inserted
    if (clock >= Y.getState(this.#store, client)) return false
    const item = structAt(this.#store, client, clock)
    return !(item instanceof Y.Item) || (item.left === null && item.id.clock === clock)
  }

  /**
   * Inserts an item into a list that was empty, or at a map key that was not set, when the item was created.
   * Returns whether the item is free.
   */
  #begin(item: ReadItem): boolean {
    const isFree = this.#isEmpty(item)
    if (isFree) set(this.#firsts, item.client, item.clock, true)
    else this.#isStartContested = true
    return isFree
  }

  #isEmpty({ parent, parentSub }: ReadItem): boolean {
    const list =
      parent === null || typeof parent === 'string' ? `${parent}` : `${parent.client}/${parent.clock}`
    const kind = typeof parent === 'string' ? 'root' : 'nested'
    const name = parentSub === null ? 'list' : `key ${parentSub}`
    const begun = memoized(this.#begun, `${kind} ${list}`, () => new Set<string>())
    if (begun.has(name)) return false
    begun.add(name)
    const type = this.#typeOf(parent)
    return type === null || (parentSub === null ? type._start === null : !type._map.has(parentSub))
  }

  /** Returns the parent type; null if the document does not have it. */
  #typeOf(parent: ReadItem['parent']): SharedType | null {
    if (parent === null) return null
    if (typeof parent === 'string') return this.#doc.share.get(parent) ?? null
    if (parent.clock >= Y.getState(this.#store, parent.client)) return null
    const item = structAt(this.#store, parent.client, parent.clock)
    return item instanceof Y.Item && item.content instanceof Y.ContentType ? item.content.type : null
  }

  /**
   * Counts a split of a new item: the maximum number of array elements that it may move, and the maximum
   * steps to copy content.
   */
  #splitNew(): void {
    this.#moved += this.#items + this.#splits
    this.#splits += 1
    this.#copied += this.#copiedMax
  }

  /**
   * Counts a split at a clock: the array elements that it moves, and the steps to copy content. Counts
   * nothing if an item starts at the clock, because then no split is needed.
   */
  #split(client: number, clock: number): void {
    const structs = this.#store.clients.get(client)
    if (structs === undefined || clock >= Y.getState(this.#store, client)) return
    const index = Y.findIndexSS(structs, clock)
    const item = structs[index]
    if (!(item instanceof Y.Item) || item.id.clock === clock) return
    this.#moved += structs.length - index + this.#splits
    this.#splits += 1
    this.#copied += copiedBySplit(item.content, clock - item.id.clock)
  }
}

/** Returns whether an item was inserted directly after the item `before`, with the same right neighbor. */
const continues = ({ client, clock, origin, rightOrigin }: ReadItem, before: ReadItem): boolean =>
  before.client === client &&
  before.clock + before.length === clock &&
  origin !== null &&
  origin.client === client &&
  origin.clock === clock - 1 &&
  isSame(rightOrigin, before.rightOrigin)

const isSame = (a: StoredId | null, b: StoredId | null): boolean =>
  a === null || b === null ? a === b : a.client === b.client && a.clock === b.clock

const structAt = (store: Y.Doc['store'], client: number, clock: number): unknown => {
  const structs = store.clients.get(client)
  return structs?.[Y.findIndexSS(structs, clock)]
}

function set<T>(of: Map<number, Map<number, T>>, client: number, clock: number, value: T): void {
  memoized(of, client, () => new Map<number, T>()).set(clock, value)
}
