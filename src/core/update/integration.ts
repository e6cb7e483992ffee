/* oxlint-disable typescript/unbound-method -- the methods that are replaced are called with their objects */
/**
 * Limits the work of Yjs. To find the position of an item, Yjs scans all items that other clients inserted at
 * the same position. It also splits arrays to split an item, shifts arrays to merge items, and searches all
 * roots for the name of a root. With a small update, a client can force Yjs into quadratic time in each of
 * these cases, and Yjs has no hook to stop it. This module replaces methods of exported classes of Yjs:
 *
 * - `Item.integrate`: a scan that counts its steps replaces the conflict scan of Yjs and finds the same
 *   position. Items whose position is in `Placements` need no scan.
 * - `Item.integrate` also splits the new item at once where the update needs its parts (`applyIntegrable`).
 * - `splice` of each content: a split counts the values that it copies, and the structs that the previous
 *   splits have shifted.
 * - `Item.mergeWith`, `GC.mergeWith`: merges are skipped after too many moved elements. This is harmless,
 *   because a merge is only an optimization.
 * - `Item.write`: the name of a root is found in a map.
 *
 * Work that exceeds its budget throws `IntegrationTooExpensiveError` between two structs: the document then
 * contains a valid part of the update. Work without a budget is not limited.
 */
import * as Y from 'yjs'
import { memoized } from '../base/maps.ts'
import { cutsOf, hasPointIn, type SplitPoints, splitItem, splitsOf } from './split-points.ts'

/** Thrown if work of Yjs exceeds its budget. The document then contains a valid part of the update. */
export class IntegrationTooExpensiveError extends Error {
  override readonly name = 'IntegrationTooExpensiveError'

  constructor(stepsMax: number) {
    super(`Yjs needs more than ${stepsMax} steps to integrate it`)
  }
}

/**
 * Number of array elements that the engine moves in the time of one step of a conflict scan (about 14 ns).
 */
export const movedPerStep = 64

/** Number of steps in which Yjs splits an item, without the elements and characters that the split moves. */
export const stepsOfSplit = 32

/**
 * Maximum number of array elements that all merges within one budget may move, which takes about 30 ms.
 * Further merges are skipped; items that are not merged only take more memory.
 */
const movedByMergesMax = 50_000_000

/** Minimum number of items that a conflict scan visits for its result to be recorded. */
const placedFromSteps = 32

/** The results of conflict scans: the left neighbors of items, by client and clock. */
export class Placements {
  readonly #lefts = new Map<number, Map<number, Y.ID | null>>()

  /**
   * @param numbers four numbers for each item: client and clock of the item, then client and clock of its
   * left neighbor (-1 if there is none)
   */
  constructor(numbers: readonly number[] = []) {
    for (let at = 0; at + 3 < numbers.length; at += 4) {
      const [client = 0, clock = 0, leftClient = 0, leftClock = 0] = numbers.slice(at, at + 4)
      const ofClient = memoized(this.#lefts, client, () => new Map<number, Y.ID | null>())
      ofClient.set(clock, leftClient < 0 ? null : Y.createID(leftClient, leftClock))
    }
  }

  /**
   * Returns the last id of the left neighbor of an item; null if the item is the first in its list; undefined
   * if no position is recorded for the item.
   */
  find({ client, clock }: Y.ID): Y.ID | null | undefined {
    return this.#lefts.get(client)?.get(clock)
  }
}

/** The limit for work of Yjs on a document, and the placements that the work uses and collects. */
export interface Budget {
  readonly doc: Y.Doc
  /** Maximum number of steps, of about 14 ns each. */
  readonly stepsMax: number
  readonly placements: Placements | null
  /**
   * Collects the results of conflict scans, in the form that `Placements` accepts; null if they are not
   * needed.
   */
  readonly found: number[] | null
  /** True if Yjs must merge no items, because later work would split them again. Default: false. */
  readonly mergesNothing?: boolean
}

/** The cost of work on a document. */
interface Spent {
  readonly steps: number
  /** Number of steps that recorded conflict scans took. With `Placements`, these scans are not needed. */
  readonly scanned: number
}

interface Spending extends Budget {
  steps: number
  scanned: number
  movedByMerges: number
  /** The items that Yjs has split off in its current transaction; empty before the first split. */
  splitOff: readonly Y.AbstractStruct[]
  /** Number of items in `splitOff` whose shifts are counted. */
  shiftsCounted: number
  /** The clocks at which items are split when they are integrated; null if Yjs splits them one by one. */
  points: SplitPoints | null
  /** The last new item, if it must be split; null otherwise. */
  newItem: Y.Item | null
  /**
   * The struct into which the last merge has merged another one. Consecutive merges into one struct shift the
   * array only once.
   */
  mergedInto: unknown
}

let spending: Spending | null = null

/** The members of a budget for work that neither uses nor collects placements. */
export const noPlacements: Pick<Budget, 'placements' | 'found'> = { placements: null, found: null }

/**
 * Runs `work`, which calls Yjs synchronously, within a budget. Calls `spent` with the cost, even if the work
 * fails.
 * @throws IntegrationTooExpensiveError
 */
export function withinBudget<T>(budget: Budget, work: () => T, spent?: (spent: Spent) => void): T {
  const outer = spending
  const own: Spending = {
    ...budget,
    steps: 0,
    scanned: 0,
    movedByMerges: budget.mergesNothing === true ? movedByMergesMax : 0,
    splitOff: [],
    shiftsCounted: 0,
    points: null,
    newItem: null,
    mergedInto: null,
  }
  spending = own
  try {
    return work()
  } finally {
    spending = outer
    spent?.(own)
  }
}

function spend(steps: number): void {
  if (spending === null) return
  spending.steps += steps
  if (spending.steps > spending.stepsMax) throw new IntegrationTooExpensiveError(spending.stepsMax)
}

/** Returns the total number of structs in a document. */
export function structsOf({ store }: Y.Doc): number {
  let structs = 0
  for (const ofClient of store.clients.values()) structs += ofClient.length
  return structs
}

/**
 * Prevents Yjs from preparing notifications of observers in this document, because the server has no
 * observers. Otherwise Yjs would build an event for each changed type and all types above it. For each
 * deletion in a formatted text, Yjs would also read the whole text to remove formatting marks that are not
 * needed.
 * @param onChange called at the end of each transaction, before its `changed` is cleared
 */
export function skipObservers(doc: Y.Doc, onChange?: (transaction: Y.Transaction) => void): void {
  doc.on('beforeObserverCalls', (transaction: Y.Transaction) => {
    const { changed, local } = transaction
    // Clears the index positions that Yjs has cached, because they are no longer valid. An internal observer
    // of Yjs would do this.
    if (!local) for (const type of changed.keys()) if (type._searchMarker) type._searchMarker.length = 0
    onChange?.(transaction)
    changed.clear()
  })
}

const integrateItem = Y.Item.prototype.integrate

Y.Item.prototype.integrate = function integrate(
  this: Y.Item,
  transaction: Y.Transaction,
  offset: number,
): void {
  if (spending !== null) splitNew(spending, this, transaction)
  if (offset > 0) cutStart(this, transaction, offset)
  // The parent is undefined if the item refers to a parent that is not a type.
  if (this.parent != null && isContested(this)) place(this, transaction.doc.store)
  integrateItem.call(this, transaction, 0)
  const points = spending?.points?.get(this.id.client)
  if (points !== undefined && hasPointIn(this, points)) (spending as Spending).newItem = this
}

/**
 * Like `Y.applyUpdate`, for a vetted update or a whole state (V1) whose structs can all be integrated. Yjs splits an
 * item when it needs a part of it, and shifts all later structs of the client. Within a budget, many splits are made at
 * once, in n·log n.
 */
export function applyIntegrable(doc: Y.Doc, bytes: Uint8Array): void {
  const budget = spending
  const splits = budget === null ? null : splitsOf(bytes)
  if (budget === null || splits === null) return Y.applyUpdate(doc, bytes)
  const { points, structsEnd } = splits
  doc.transact((transaction) => {
    splitKnown(transaction, points)
    budget.points = points
    try {
      Y.applyUpdate(doc, Buffer.concat([bytes.subarray(0, structsEnd), none]))
    } finally {
      budget.points = null
      budget.newItem = null
    }
    splitKnown(transaction, points)
    Y.applyUpdate(doc, Buffer.concat([none, bytes.subarray(structsEnd)]))
  })
}

/** The number of clients of an update without structs, or without deletions. */
const none = Uint8Array.of(0)

/** Splits the items that the document has. */
function splitKnown(transaction: Y.Transaction, points: SplitPoints): void {
  const { clients } = transaction.doc.store
  for (const [client, ofClient] of points) {
    const structs = clients.get(client) ?? []
    spend(ofClient.length)
    if (structs.length > 0) clients.set(client, allParts(structs, transaction, ofClient))
  }
}

/**
 * Splits the last new item before the next item is integrated: until then, Yjs needs its length. Yjs has looked
 * up the left neighbor of the next item before.
 */
function splitNew(budget: Spending, next: Y.Item, transaction: Y.Transaction): void {
  const { newItem, points } = budget
  if (newItem === null || points === null) return
  budget.newItem = null
  const { client, clock } = newItem.id
  const structs = transaction.doc.store.clients.get(client) ?? []
  const from = Y.findIndexSS(structs, clock)
  const parts = allParts(structs.slice(from), transaction, points.get(client) ?? [])
  structs.length = from
  for (const part of parts) structs.push(part)
  if (next.origin !== null) next.left = Y.getItemCleanEnd(transaction, transaction.doc.store, next.origin)
}

type Struct = Y.Item | Y.GC

/**
 * Splits items at those of the ascending `points` that are inside them, and returns all structs. Counts the steps
 * before it changes anything.
 */
function allParts(structs: Struct[], transaction: Y.Transaction, points: readonly number[]): Struct[] {
  const cuts = cutsOf(structs, points)
  if (cuts.length === 0) return structs
  spend(cuts.reduce((sum, { item, points: { length } }) => sum + stepsOfSplits(item, length), 0))
  const budget = spending
  spending = null
  const all: Struct[] = []
  let next = 0
  for (const { at, item, points: inside } of cuts) {
    while (next < at) all.push(structs[next++] as Struct)
    for (const part of splitItem(transaction, item, inside)) all.push(part)
    next += 1
  }
  while (next < structs.length) all.push(structs[next++] as Struct)
  spending = budget
  if (budget === null) return all
  budget.splitOff = transaction._mergeStructs
  budget.shiftsCounted = budget.splitOff.length
  return all
}

/** Returns the steps of `count` splits of an item, each of which is in the middle of a part. */
function stepsOfSplits({ content, length }: Y.Item, count: number): number {
  const copied = content instanceof Y.ContentString ? length / charactersPerStep : valuesIn(content)
  return count * stepsOfSplit + copied * Math.log2(count + 1)
}

/** Removes the first `offset` clocks of an item, which the document already has. */
function cutStart(item: Y.Item, transaction: Y.Transaction, offset: number): void {
  const { client, clock } = item.id
  item.id = Y.createID(client, clock + offset)
  item.left = Y.getItemCleanEnd(transaction, transaction.doc.store, Y.createID(client, clock + offset - 1))
  item.origin = item.left.lastId
  item.content = item.content.splice(offset)
  item.length -= offset
}

/**
 * Returns whether the document has items between the left and right neighbor that the item had when it was
 * inserted.
 */
const isContested = ({ left, right }: Y.Item): boolean =>
  left === null ? right === null || right.left !== null : left.right !== right

/**
 * Sets the neighbors of a contested item to those at its final position, so that Yjs finds no items between
 * them.
 */
function place(item: Y.Item, store: Y.Doc['store']): void {
  const known = placedBefore(item, store)
  const first = item.left === null ? firstIn(item) : item.left.right
  item.left = known === undefined ? scan(item, first, store) : known
  item.right = item.left === null ? first : item.left.right
}

/**
 * Returns the left neighbor of an item according to `Placements`; null if the item is the first in its list.
 * Returns undefined if no position is recorded, or if the document does not have the neighbor.
 */
function placedBefore({ id }: Y.Item, store: Y.Doc['store']): Y.Item | null | undefined {
  const left = spending?.placements?.find(id)
  if (left === undefined || left === null) return left
  if (Y.getState(store, left.client) <= left.clock) return undefined
  const found: unknown = Y.getItem(store, left)
  return found instanceof Y.Item && Y.compareIDs(found.lastId, left) ? found : undefined
}

/** Returns the first item of the list to which an item belongs, or the oldest value of its map key. */
function firstIn({ parent, parentSub }: Y.Item): Y.Item | null {
  if (!(parent instanceof Y.AbstractType)) return null
  if (parentSub === null) return parent._start
  let first = parent._map.get(parentSub) ?? null
  // Each item counts two steps, because Yjs walks this path a second time.
  for (; first !== null && first.left !== null; first = first.left) spend(2)
  return first
}

/**
 * Returns the left neighbor of a contested item, as YATA defines it (Nicolaescu et al., "Near Real-Time
 * Peer-to-Peer Shared Editing on Extensible Data Types", 2016) and Yjs implements it. The scan goes through
 * the items between the two origins, in order. An item with the same origin stays to the left if its client
 * id is lower, or if it may belong to an insertion further right. An item whose origin is one of the items to
 * the left belongs to the insertion of its origin.
 */
function scan(item: Y.Item, first: Y.Item | null, store: Y.Doc['store']): Y.Item | null {
  const passed = new PassedItems(first, store)
  let { left } = item
  /**
   * Index of the first scanned item after `left`. The scanned items from this index on still conflict with
   * the item.
   */
  let conflictsFrom = 0
  const before = spending?.steps ?? 0
  for (let at = first; at !== null && at !== item.right; at = at.right) {
    spend(1)
    const index = passed.add(at)
    if (Y.compareIDs(item.origin, at.origin)) {
      if (at.id.client < item.id.client) {
        left = at
        conflictsFrom = index + 1
      } else if (Y.compareIDs(item.rightOrigin, at.rightOrigin)) break
    } else {
      const origin = passed.indexOf(at.origin)
      if (origin < 0) break
      if (origin < conflictsFrom) {
        left = at
        conflictsFrom = index + 1
      }
    }
  }
  if (passed.count >= placedFromSteps && spending !== null) {
    spending.scanned += spending.steps - before
    note(spending.found, item.id, left)
  }
  return left
}

function note(found: number[] | null, { client, clock }: Y.ID, left: Y.Item | null): void {
  const lastId = left?.lastId ?? null
  found?.push(client, clock, lastId?.client ?? -1, lastId?.clock ?? -1)
}

/** Number of steps that one lookup in the scanned items costs. */
const stepsOfLookup = 4

/** The items that a conflict scan has visited, in order. */
class PassedItems {
  readonly #first: Y.Item | null
  readonly #store: Y.Doc['store']
  #before: Y.Item | null = null
  #last: Y.Item | null = null
  /** The index of each visited item; null until an origin is looked up that is not the previous item. */
  #indexes: Map<Y.Item, number> | null = null
  count = 0

  constructor(first: Y.Item | null, store: Y.Doc['store']) {
    this.#first = first
    this.#store = store
  }

  /** Adds an item, and returns its index. */
  add(item: Y.Item): number {
    this.#before = this.#last
    this.#last = item
    const index = this.count
    this.count += 1
    if (this.#indexes === null) return index
    spend(stepsOfLookup)
    this.#indexes.set(item, index)
    return index
  }

  /**
   * Returns the index of the visited item that contains this id; -1 if there is none. The last added item is
   * not considered.
   */
  indexOf(id: Y.ID | null): number {
    const before = this.#before
    if (id === null || before === null) return -1
    if (!before.deleted && holds(before, id)) return this.count - 2
    spend(stepsOfLookup)
    // The store may have replaced a deleted item by a GC struct, which no conflict scan visits.
    const item = Y.getItem(this.#store, id)
    if (item === before) return this.count - 2
    this.#indexes ??= this.#indexed()
    return this.#indexes.get(item) ?? -1
  }

  #indexed(): Map<Y.Item, number> {
    spend(stepsOfLookup * this.count)
    const indexes = new Map<Y.Item, number>()
    for (let at = this.#first; at !== null && indexes.size < this.count; at = at.right)
      indexes.set(at, indexes.size)
    return indexes
  }
}

const holds = ({ id, length }: Y.Item, { client, clock }: Y.ID): boolean =>
  id.client === client && id.clock <= clock && clock < id.clock + length

for (const content of [Y.ContentAny, Y.ContentDeleted, Y.ContentJSON, Y.ContentString]) {
  const { prototype }: { prototype: { splice(offset: number): Y.Item['content'] } } = content
  const split = prototype.splice
  prototype.splice = function splice(offset: number) {
    if (spending !== null)
      spend(stepsOfSplit + shiftedBySplits(spending) / movedPerStep + copiedBySplit(this, offset))
    return split.call(this, offset)
  }
}

/**
 * Returns the number of structs that the splits since the last call have shifted. Yjs inserts each item that
 * it splits off into the structs of its client. The content that is split does not know its client, so each
 * split counts the shift of the previous one.
 */
function shiftedBySplits(budget: Spending): number {
  const { doc } = budget
  const splitOff = doc._transaction?._mergeStructs ?? []
  if (splitOff !== budget.splitOff) budget.shiftsCounted = 0
  budget.splitOff = splitOff
  let shifted = 0
  for (; budget.shiftsCounted < splitOff.length; budget.shiftsCounted += 1) {
    const { client, clock } = (splitOff[budget.shiftsCounted] as Y.AbstractStruct).id
    const structs = doc.store.clients.get(client) ?? []
    shifted += structs.length - Y.findIndexSS(structs, clock)
  }
  return shifted
}

/**
 * Returns the number of values that Yjs copies when it merges or splits the content. Copying a value takes
 * about one step.
 */
export const valuesIn = (content: unknown): number =>
  content instanceof Y.ContentAny || content instanceof Y.ContentJSON ? content.arr.length : 0

/** Number of characters that the engine copies in the time of one step. */
export const charactersPerStep = 32

/**
 * Returns the number of steps for the copies that Yjs makes when it splits content at `offset`. Yjs copies
 * values. It copies a string only if the split is between the two halves of a surrogate pair.
 */
export function copiedBySplit(content: unknown, offset: number): number {
  if (!(content instanceof Y.ContentString)) return valuesIn(content)
  const before = content.str.charCodeAt(offset - 1)
  return before >= 0xd800 && before <= 0xdbff ? content.str.length / charactersPerStep : 0
}

const mergeItems = Y.Item.prototype.mergeWith

Y.Item.prototype.mergeWith = function mergeWith(this: Y.Item, right: Y.AbstractStruct): boolean {
  if (!mayMerge()) return false
  const merged = right instanceof Y.Item && mergeItems.call(this, right)
  if (merged) countMerge(this, right, valuesIn(this.content))
  return merged
}

const mergeGarbage = Y.GC.prototype.mergeWith

Y.GC.prototype.mergeWith = function mergeWith(this: Y.GC, right: Y.GC): boolean {
  if (!mayMerge()) return false
  const merged = mergeGarbage.call(this, right)
  if (merged) countMerge(this, right, 0)
  return merged
}

const mayMerge = (): boolean => spending === null || spending.movedByMerges < movedByMergesMax

/**
 * Counts the array elements that a merge moves. Consecutive merges into one struct shift the array of their
 * client only once.
 */
function countMerge(left: Y.AbstractStruct, right: Y.AbstractStruct, values: number): void {
  if (spending === null) return
  const isNext = right === spending.mergedInto
  const shifted = isNext ? 1 : (spending.doc.store.clients.get(left.id.client)?.length ?? 0)
  spending.movedByMerges += shifted + values * movedPerStep
  spending.mergedInto = left
}

type SharedType = Y.ContentType['type']

/** The names of the roots of each document whose roots have been looked up. */
const rootNames = new WeakMap<Y.Doc, Map<SharedType, string>>()

/**
 * Returns the name of a root. Returns null for any other type, and for a root object that Yjs has replaced by
 * a root of a specific kind.
 */
function rootNameOf(parent: Y.Item['parent']): string | null {
  if (!(parent instanceof Y.AbstractType) || parent._item !== null || parent.doc === null) return null
  const { share } = parent.doc
  const known = rootNames.get(parent.doc)?.get(parent)
  if (known !== undefined && share.get(known) === parent) return known
  const names = new Map([...share].map(([name, type]) => [type, name]))
  rootNames.set(parent.doc, names)
  return names.get(parent) ?? null
}

const writeItem = Y.Item.prototype.write

Y.Item.prototype.write = function write(
  this: Y.Item,
  encoder: Parameters<typeof writeItem>[0],
  offset: number,
): void {
  const { parent } = this
  const name = offset === 0 && this.origin === null && this.rightOrigin === null ? rootNameOf(parent) : null
  if (name === null) return writeItem.call(this, encoder, offset)
  // If `parent` is a string, Yjs writes it as the name, without a search for the root.
  Object.assign(this, { parent: name })
  try {
    writeItem.call(this, encoder, offset)
  } finally {
    this.parent = parent
  }
}
