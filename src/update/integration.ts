/* oxlint-disable typescript/unbound-method -- the methods that are replaced are called with their objects */
/**
 * Limits the work of Yjs. Yjs places an item by a scan over all items that other clients inserted at the same
 * position, splits arrays to split an item, shifts arrays to merge items, and searches all roots for the name
 * of a root. With a small update, a client can force Yjs into quadratic time in each of these cases, and Yjs
 * has no hook to stop it. This module replaces methods of exported classes of Yjs:
 *
 * - `Item.integrate`: a scan of Weft, which counts its steps, replaces the conflict scan and finds the same
 *   position. It is not needed for items whose position is in `Placements`.
 * - `splice` of each content: a split counts the elements that it moves.
 * - `Item.mergeWith`, `GC.mergeWith`: a merge is skipped after too many moved elements. This is harmless,
 *   because a merge is only an optimization.
 * - `Item.write`: the name of a root is found in a map.
 *
 * Work that exceeds its budget ends with `IntegrationTooExpensiveError` between two structs: the document
 * then has a valid part of the update. Work without a budget is not limited.
 */
import * as Y from 'yjs'

/** Thrown when work exceeds its budget. The document then has a valid part of the update. */
export class IntegrationTooExpensiveError extends Error {
  override readonly name = 'IntegrationTooExpensiveError'

  constructor(stepsMax: number) {
    super(`Yjs needs more than ${stepsMax} steps to integrate it`)
  }
}

/** Number of array elements that are moved in the time of one step of a conflict scan (about 14 ns). */
export const movedPerStep = 64

/**
 * Maximum number of elements that the merges within a budget may move, which takes about 30 ms. Items that
 * are not merged only take more memory.
 */
const movedByMergesMax = 50_000_000

/** Minimum number of steps of a conflict scan whose result is recorded. */
const placedFromSteps = 32

/** The results of conflict scans: the left neighbors of items, by client and clock. */
export class Placements {
  readonly #lefts = new Map<number, Map<number, Y.ID | null>>()

  /**
   * @param numbers four numbers for each item: client and clock of the item, client and clock of its left
   * neighbor (-1 if there is none)
   */
  constructor(numbers: readonly number[] = []) {
    for (let at = 0; at + 3 < numbers.length; at += 4) {
      const [client = 0, clock = 0, leftClient = 0, leftClock = 0] = numbers.slice(at, at + 4)
      const ofClient = this.#lefts.get(client) ?? new Map<number, Y.ID | null>()
      this.#lefts.set(client, ofClient)
      ofClient.set(clock, leftClient < 0 ? null : Y.createID(leftClient, leftClock))
    }
  }

  /**
   * Returns the last id of the left neighbor of an item; null if the item is the first one; undefined if this
   * is unknown.
   */
  find({ client, clock }: Y.ID): Y.ID | null | undefined {
    return this.#lefts.get(client)?.get(clock)
  }
}

/** Limits for work on a document. */
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
}

/** Cost of work on a document. */
export interface Spent {
  /** Number of all steps. */
  readonly steps: number
  /** Number of steps that conflict scans took. With `Placements`, these steps are not needed. */
  readonly scanned: number
}

interface Spending extends Budget {
  steps: number
  scanned: number
  movedByMerges: number
  /**
   * Number of structs of the client with the most structs, counted at the first split. This is the length of
   * the array that a split shifts.
   */
  structs: number | null
  /**
   * The struct into which the last merge was made. Consecutive merges into one struct shift the array only
   * once.
   */
  mergedInto: unknown
}

let spending: Spending | null = null

/** For work that neither uses nor collects placements. */
export const noPlacements: Pick<Budget, 'placements' | 'found'> = { placements: null, found: null }

/**
 * Runs synchronous work of Yjs within a budget. Calls `spent` with the cost, even if the work fails.
 * @throws IntegrationTooExpensiveError
 */
export function withinBudget<T>(budget: Budget, work: () => T, spent?: (spent: Spent) => void): T {
  const outer = spending
  const own: Spending = { ...budget, steps: 0, scanned: 0, movedByMerges: 0, structs: null, mergedInto: null }
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
 * Prevents Yjs from notifying observers, because the server has none. Without this, Yjs would build an event
 * for each changed type and all types above it. For each deletion in a formatted text, Yjs would also read
 * the whole text to remove formatting marks that are not needed.
 */
export function skipObservers(doc: Y.Doc): void {
  doc.on('beforeObserverCalls', ({ changed, local }: Y.Transaction) => {
    // This replaces an internal observer of Yjs: cached positions by index are no longer valid.
    if (!local) for (const type of changed.keys()) if (type._searchMarker) type._searchMarker.length = 0
    changed.clear()
  })
}

const integrateItem = Y.Item.prototype.integrate

Y.Item.prototype.integrate = function integrate(
  this: Y.Item,
  transaction: Y.Transaction,
  offset: number,
): void {
  if (offset > 0) cutStart(this, transaction, offset)
  // The parent is undefined if the item refers to a parent without a type.
  if (this.parent != null && isContested(this)) place(this, transaction.doc.store)
  integrateItem.call(this, transaction, 0)
}

/** Removes the part of an item that the document already has. */
function cutStart(item: Y.Item, transaction: Y.Transaction, offset: number): void {
  const { client, clock } = item.id
  item.id = Y.createID(client, clock + offset)
  item.left = Y.getItemCleanEnd(transaction, transaction.doc.store, Y.createID(client, clock + offset - 1))
  item.origin = item.left.lastId
  item.content = item.content.splice(offset)
  item.length -= offset
}

/** Returns whether there are items between the two neighbors between which the item was inserted. */
const isContested = ({ left, right }: Y.Item): boolean =>
  left === null ? right === null || right.left !== null : left.right !== right

/** Sets the neighbors of a contested item, so that Yjs finds no items between them. */
function place(item: Y.Item, store: Y.Doc['store']): void {
  const known = placedBefore(item, store)
  const first = item.left === null ? firstIn(item) : item.left.right
  item.left = known === undefined ? scan(item, first, store) : known
  item.right = item.left === null ? first : item.left.right
}

/**
 * Returns the left neighbor that another thread has found; null if the item is the first one; undefined if no
 * neighbor was found or the document does not have it.
 */
function placedBefore({ id }: Y.Item, store: Y.Doc['store']): Y.Item | null | undefined {
  const left = spending?.placements?.find(id)
  if (left === undefined || left === null) return left
  if (Y.getState(store, left.client) <= left.clock) return undefined
  const found: unknown = Y.getItem(store, left)
  return found instanceof Y.Item && Y.compareIDs(found.lastId, left) ? found : undefined
}

/** Returns the first item of the list, or the oldest value of the map key. */
function firstIn({ parent, parentSub }: Y.Item): Y.Item | null {
  if (!(parent instanceof Y.AbstractType)) return null
  if (parentSub === null) return parent._start
  let first = parent._map.get(parentSub) ?? null
  // A step counts twice, because Yjs walks this path a second time.
  for (; first !== null && first.left !== null; first = first.left) spend(2)
  return first
}

/**
 * Finds the left neighbor of a contested item, in the way that YATA defines (Nicolaescu et al., "Near
 * Real-Time Peer-to-Peer Shared Editing on Extensible Data Types", 2016) and Yjs implements. The scan goes
 * through the items between the two origins, in order. An item with the same origin stays to the left if its
 * client id is lower, or if it may belong to an insertion further right. An item whose origin is among the
 * items to the left belongs to the insertion of its origin.
 */
function scan(item: Y.Item, first: Y.Item | null, store: Y.Doc['store']): Y.Item | null {
  const passed = new PassedItems(first, store)
  let { left } = item
  /** Index of the first scanned item after `left`. The items from this index on conflict with the item. */
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
  /** Created when the origin of an item is not simply the previous item. */
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
   * Returns the index of the visited item that contains this id, not counting the last item; -1 if there is
   * none.
   */
  indexOf(id: Y.ID | null): number {
    const before = this.#before
    if (id === null || before === null) return -1
    if (!before.deleted && holds(before, id)) return this.count - 2
    spend(stepsOfLookup)
    // Instead of a deleted item, the store may have garbage, which no conflict scan has visited.
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
    if (spending !== null) spend(1 + splitStructs(spending) / movedPerStep + copiedBySplit(this, offset))
    return split.call(this, offset)
  }
}

function splitStructs(budget: Spending): number {
  if (budget.structs !== null) return budget.structs
  budget.structs = 0
  for (const { length } of budget.doc.store.clients.values())
    budget.structs = Math.max(budget.structs, length)
  return budget.structs
}

/** Returns the number of values that a merge of the content copies. Copying a value takes about one step. */
export const valuesIn = (content: unknown): number =>
  content instanceof Y.ContentAny || content instanceof Y.ContentJSON ? content.arr.length : 0

/** Number of characters that are copied in the time of one step. */
export const charactersPerStep = 32

/**
 * Returns the steps for copying content that is split. Only values are copied, and strings that are split
 * between the two halves of a surrogate pair.
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
 * Counts the elements that a merge moves. Consecutive merges into one struct shift the array of their client
 * only once.
 */
function countMerge(left: Y.AbstractStruct, right: Y.AbstractStruct, values: number): void {
  if (spending === null) return
  const isNext = right === spending.mergedInto
  const shifted = isNext ? 1 : (spending.doc.store.clients.get(left.id.client)?.length ?? 0)
  spending.movedByMerges += shifted + values * movedPerStep
  spending.mergedInto = left
}

type SharedType = Y.ContentType['type']

/** For each document, the names of its roots, if they have been looked up. */
const rootNames = new WeakMap<Y.Doc, Map<SharedType, string>>()

/**
 * Returns the name of a root; null for any other type, and for a root that was replaced by a root with a
 * kind.
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
  // If the parent is a string, Yjs writes it unchanged.
  Object.assign(this, { parent: name })
  try {
    writeItem.call(this, encoder, offset)
  } finally {
    this.parent = parent
  }
}
