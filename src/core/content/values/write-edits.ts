import * as Y from 'yjs'
import type { TextOperation } from '../text/operations.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { PlannedUpdate, RootReplacement } from '../yjs/root-replacement.ts'
import { type ArrayEdit, type SplitBudget, splitBudget, splitItems } from './item-splits.ts'
import type { NewValue } from './new-values.ts'

/** Changes of the entries of a map, or of the attributes of a shared text or element. */
export interface MapEdit {
  readonly in: 'map'
  readonly type: SharedRoot
  readonly removed: readonly string[]
  readonly set: readonly (readonly [string, NewValue])[]
}

/** The change of one shared type. A replacement has at most one edit for each type. */
export type SharedTypeEdit =
  | MapEdit
  | ArrayEdit
  | { readonly in: 'text'; readonly type: SharedRoot; readonly operations: readonly TextOperation[] }
  | { readonly in: 'planned'; readonly type: SharedRoot; readonly update: PlannedUpdate }

/**
 * Numbers of insertions and deletions that nested plans make. They are known only after these plans were
 * executed.
 */
export type EditCounts = Pick<RootReplacement, 'insertions' | 'deletions'>

/**
 * Writes edits. Creates items directly instead of calling methods of the shared types. These methods read
 * `value.constructor`, which is wrong for an object with the key `constructor`, and they search for each
 * position by its index.
 */
export function writeEdits(transaction: Y.Transaction, edits: readonly SharedTypeEdit[]): EditCounts {
  const budget = splitBudget()
  let [insertions, deletions] = [0, 0]
  for (const edit of edits) {
    if (edit.in === 'map') writeEntries(transaction, edit)
    else if (edit.in === 'array') writeElements(transaction, edit, budget)
    else if (edit.in === 'text') Y.Text.prototype.applyDelta.call(edit.type, [...edit.operations])
    else {
      const change = edit.update(transaction, edit.type)
      insertions += change.insertions
      deletions += change.deletions
    }
  }
  return { insertions, deletions }
}

function writeEntries(transaction: Y.Transaction, { type, removed, set }: MapEdit): void {
  for (const key of removed) type._map.get(key)?.delete(transaction)
  for (const [key, value] of set) setEntry(transaction, type, key, value)
}

function setEntry(transaction: Y.Transaction, type: SharedRoot, key: string, value: NewValue): void {
  const place = { type, key, left: type._map.get(key) ?? null, right: null }
  if (value.as === 'plain') putItem(transaction, place, new Y.ContentAny([value.value]))
  else putShared(transaction, place, value)
}

/** Deletes elements in one pass over the items, so that many edits are inexpensive, then inserts elements. */
function writeElements(transaction: Y.Transaction, edit: ArrayEdit, budget: SplitBudget): void {
  const { type, removed, insertions } = splitItems(transaction, edit, budget)
  // Clears the positions that Yjs has cached, because they become wrong.
  if (type._searchMarker !== null) type._searchMarker.length = 0
  const added: { readonly left: Y.Item | null; readonly values: readonly NewValue[] }[] = []
  let [index, next] = [0, 0]
  const addHere = (left: Y.Item | null): void => {
    const first = next
    while (insertions[next]?.after === index - 1) next += 1
    const values = insertions.slice(first, next).flatMap((each) => each.values)
    if (values.length > 0) added.push({ left, values })
  }
  addHere(null)
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    if (removed[index] === 1) item.delete(transaction)
    index += item.length
    addHere(item)
  }
  middleFirst(added, ({ left, values }) => insertAfter(transaction, type, left, values))
}

/**
 * Visits the middle of a list first, then both halves in the same way. A receiver of the change splits items in
 * this order. In the order of the positions, each split would copy the whole remainder of an item.
 */
function middleFirst<T>(
  list: readonly T[],
  visit: (each: T) => unknown,
  [from, to]: readonly [number, number] = [0, list.length],
): void {
  if (from >= to) return
  const middle = (from + to) >> 1
  visit(list[middle] as T)
  middleFirst(list, visit, [from, middle])
  middleFirst(list, visit, [middle + 1, to])
}

/**
 * Inserts values after the item `after`, and returns the last inserted item. Adjacent plain values become one
 * item.
 */
function insertAfter(
  transaction: Y.Transaction,
  type: SharedRoot,
  after: Y.Item | null,
  values: readonly NewValue[],
): Y.Item | null {
  const right = after === null ? type._start : after.right
  let left = after
  let plain: unknown[] = []
  const flush = (): void => {
    if (plain.length > 0)
      left = putItem(transaction, { type, key: null, left, right }, new Y.ContentAny(plain))
    plain = []
  }
  for (const value of values) {
    if (value.as === 'plain') plain.push(value.value)
    else {
      flush()
      left = putShared(transaction, { type, key: null, left, right }, value)
    }
  }
  flush()
  return left
}

type SharedValue = Exclude<NewValue, { as: 'plain' }>

function putShared(transaction: Y.Transaction, place: EditPosition, value: SharedValue): Y.Item {
  if (value.as === 'subdocument') return putItem(transaction, place, new Y.ContentDoc(value.make()))
  const type = newType(value)
  const item = putItem(transaction, place, new Y.ContentType(type))
  if (value.as === 'map') for (const [key, entry] of value.entries) setEntry(transaction, type, key, entry)
  else if (value.as === 'array') insertAfter(transaction, type, null, value.elements)
  else if (value.as === 'text') {
    if (value.text !== '') insertString(transaction, type, value.text)
  } else if (value.as !== 'node') value.update?.(transaction, type)
  return item
}

function newType(value: Exclude<SharedValue, { as: 'subdocument' }>): SharedRoot {
  if (value.as === 'node') return value.make()
  const { as } = value
  if (as === 'map') return new Y.Map()
  if (as === 'xml') return new Y.XmlFragment()
  return as === 'array' ? new Y.Array() : new Y.Text()
}

const insertString = (transaction: Y.Transaction, type: SharedRoot, text: string): Y.Item =>
  putItem(transaction, { type, key: null, left: null, right: null }, new Y.ContentString(text))

interface EditPosition {
  readonly type: SharedRoot
  /** Key of the map entry; null in a sequence. */
  readonly key: string | null
  readonly left: Y.Item | null
  readonly right: Y.Item | null
}

/** Creates an item and integrates it. */
export function putItem(
  transaction: Y.Transaction,
  { type, key, left, right }: EditPosition,
  content: Y.Item['content'],
): Y.Item {
  const { clientID, store } = transaction.doc
  const id = Y.createID(clientID, Y.getState(store, clientID))
  const item = new Y.Item(id, left, left?.lastId ?? null, right, right?.id ?? null, type, key, content)
  item.integrate(transaction, 0)
  return item
}
