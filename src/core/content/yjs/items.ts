import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import type { IdRange, StoredId } from '../../update/range-index.ts'
import { formatPointer } from '../json/pointer.ts'
import type { SharedRoot } from './root-kind.ts'

/** Returns the item that contains an id; null if the document does not have it, or no longer. */
export function itemIn({ store }: Y.Doc, { client, clock }: StoredId): Y.Item | null {
  if (clock >= Y.getState(store, client)) return null
  const item: unknown = Y.getItem(store, Y.createID(client, clock))
  return item instanceof Y.Item ? item : null
}

/** Returns whether a document contains a part of a range, not deleted. */
export function isStored({ store }: Y.Doc, { client, clock, length }: IdRange): boolean {
  for (let at = clock, end = Math.min(clock + length, Y.getState(store, client)); at < end; ) {
    const item = Y.getItem(store, Y.createID(client, at))
    if (!item.deleted) return true
    at = item.id.clock + item.length
  }
  return false
}

/** Deletes the content with these ids. Content that is already deleted, or missing, stays so. */
export function deleteIds(transaction: Y.Transaction, { client, clock, length }: IdRange): void {
  const end = Math.min(clock + length, Y.getState(transaction.doc.store, client))
  for (let at = clock; at < end; ) {
    const found: Y.Item | Y.GC = Y.getItemCleanStart(transaction, Y.createID(client, at))
    if (found instanceof Y.Item && !found.deleted) {
      if (at + found.length > end) Y.getItemCleanStart(transaction, Y.createID(client, end))
      found.delete(transaction)
    }
    at = found.id.clock + found.length
  }
}

/** Returns the number of units that a transaction has deleted. */
export const deletedUnits = ({ deleteSet }: Y.Transaction): number =>
  [...deleteSet.clients.values()].flat().reduce((sum, { len }) => sum + len, 0)

/** A part of an item. */
export interface ItemRange {
  /** Start of the part in the item. */
  readonly offset: number
  readonly length: number
}

/** Returns the whole item; empty if it is deleted. */
export const presentParts = (item: Y.Item): readonly ItemRange[] =>
  item.deleted ? [] : [{ offset: 0, length: item.length }]

export const idOf = ({ id: { client, clock } }: Y.Item): StoredId => ({ client, clock })

export const rangeOfItem = ({ id: { client, clock }, length }: Y.Item): IdRange => ({ client, clock, length })

/** Returns the ids of the content between two indexes of a sequence. Ranges that follow each other are joined. */
export function idsBetween(type: SharedRoot, start: number, end: number): readonly IdRange[] {
  const ranges: { client: number; clock: number; length: number }[] = []
  let index = 0
  for (let item = type._start; item !== null && index < end; item = item.right) {
    if (item.deleted || !item.countable) continue
    const from = Math.max(0, start - index)
    const to = Math.min(item.length, end - index)
    index += item.length
    if (from >= to) continue
    const last = ranges.at(-1)
    const { client, clock } = item.id
    if (last?.client === client && last.clock + last.length === clock + from) last.length += to - from
    else ranges.push({ client, clock: clock + from, length: to - from })
  }
  return ranges
}

/** Returns the shared type with an id, deleted or not; null if the document does not have it. */
export function typeWithId(doc: Y.Doc, id: StoredId): SharedRoot | null {
  const content = itemIn(doc, id)?.content
  return content instanceof Y.ContentType ? content.type : null
}

/** Returns the live shared types in a sequence. */
export function typesIn({ _start }: SharedRoot): SharedRoot[] {
  const types: SharedRoot[] = []
  for (let item = _start; item !== null; item = item.right)
    if (!item.deleted && item.content instanceof Y.ContentType) types.push(item.content.type)
  return types
}

/** Returns the shared type that contains a type; null for a root. */
export const parentOf = ({ _item: item }: SharedRoot): SharedRoot | null =>
  item?.parent instanceof Y.AbstractType ? item.parent : null

/** Returns the last item of a sequence, deleted items included. */
export function lastItem({ _start }: SharedRoot): Y.Item | null {
  let last = _start
  while (last !== null && last.right !== null) last = last.right
  return last
}

/** Finds the indexes of items in their sequences. */
export class SequenceIndexes {
  /** Indexes of the items of sequences, until a sequence changes. */
  readonly #known = new Map<SharedRoot, ReadonlyMap<Y.Item, number>>()

  of(item: Y.Item): number {
    const sequence = item.parent as SharedRoot
    return memoized(this.#known, sequence, () => indexesIn(sequence)).get(item) ?? 0
  }

  /** Call when a sequence has changed. */
  forget(type: SharedRoot): void {
    this.#known.delete(type)
  }
}

function indexesIn({ _start }: SharedRoot): ReadonlyMap<Y.Item, number> {
  const indexes = new Map<Y.Item, number>()
  let index = 0
  for (let item = _start; item !== null; item = item.right) {
    indexes.set(item, index)
    if (!item.deleted && item.countable) index += item.length
  }
  return indexes
}

/** Encodes a relative position in base64, as stored anchors have it. */
export const encodePosition = (position: Y.RelativePosition): string =>
  Buffer.from(Y.encodeRelativePosition(position)).toString('base64')

/** Decodes a relative position; null if the bytes are malformed. */
export function decodePosition(encoded: Uint8Array): Y.RelativePosition | null {
  try {
    return Y.decodeRelativePosition(encoded)
  } catch {
    return null
  }
}

/**
 * Returns whether the bytes are exactly one Yjs relative position. The positions of older clients do not
 * contain the association.
 */
export function isRelativePosition(bytes: Uint8Array): boolean {
  try {
    const encoded = Y.encodeRelativePosition(Y.decodeRelativePosition(bytes))
    const missing = encoded.length - bytes.length
    return (missing === 0 || missing === 1) && Buffer.from(encoded.subarray(0, bytes.length)).equals(bytes)
  } catch {
    return false
  }
}

/** Finds the JSON pointers of types in their roots. */
export class ContentPaths {
  readonly #indexes = new SequenceIndexes()

  /** Returns the JSON pointer to a type in its root, or to an entry of it. */
  of(type: SharedRoot, key: string | null = null): string {
    const tokens = key === null ? [] : [key]
    for (let each = type; each._item !== null; each = each._item.parent as SharedRoot)
      tokens.push(each._item.parentSub ?? String(this.#indexes.of(each._item)))
    return formatPointer(tokens.reverse())
  }

  /** Call when a sequence has changed. */
  forget(type: SharedRoot): void {
    this.#indexes.forget(type)
  }
}
