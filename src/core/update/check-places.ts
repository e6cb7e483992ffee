import * as Y from 'yjs'
import { addTo } from '../base/maps.ts'
import { limits } from '../model/limits.ts'
import { struct } from './item-content.ts'
import { MalformedUpdateError } from './malformed.ts'
import { disjoint, type IdRange, RangeIndex, type StoredId } from './range-index.ts'
import { type ReadItem, readUpdate, subdocumentsMax } from './read-update.ts'
import type { UpdateSummary } from './summary.ts'

/** The place of an item, as the update claims it. */
type ItemPlace =
  | { readonly kind: 'root' }
  /** Inside the type that is the content of the item with this id. */
  | (StoredId & { readonly kind: 'parent' })
  /** Next to the item with this id, in the same type. */
  | (StoredId & { readonly kind: 'sibling' })

interface PlacedItem {
  readonly clock: number
  readonly end: number
  readonly isType: boolean
  /** True if the item has several values or characters. */
  readonly isRun: boolean
  readonly place: ItemPlace
  /** True if the item is a map entry; undefined: as its sibling. */
  isEntry: boolean | undefined
  /**
   * Number of types above the item, including the root. 0: not determined yet; `visiting`: being determined.
   */
  depth: number
}

const visiting = -1

type PlacedItemsByClient = Map<number, PlacedItem[]>

/** Returns whether `checkPlaces` must check an update. */
export const hasPlaces = ({ types, longRuns }: UpdateSummary): boolean => types > 0 || longRuns > 0

/**
 * Rejects an update if the places of its new items show one of these problems. Must be called before the update is
 * applied, because Yjs cannot remove the items again.
 *
 * - A shared type would be nested too deep. The types of `doc` above it count as well. The limit is needed because Yjs
 *   deletes, copies and encodes nested types by recursion.
 * - An item with several values would be a live entry of a map, or an attribute of an element. An entry must be one
 *   value. If a longer entry has been split, Yjs deletes only its end when the entry is replaced. Because of the remaining
 *   live part, Yjs throws whenever the map is deleted, also after the next load. Deleted items are legitimate, because
 *   documents without garbage collection have them.
 * - The document would have too many subdocuments, because of their memory.
 *
 * Items that refer to missing structs count as elements at the top level.
 * @returns false if there is such an item: the caller must check the update again when the document has these structs
 * @throws MalformedUpdateError
 */
export function checkPlaces(bytes: Uint8Array, doc: Y.Doc): boolean {
  const items: PlacedItemsByClient = new Map()
  const deleted: IdRange[] = []
  let added = 0
  const item = (read: ReadItem): void => {
    const { client, clock, length, kind, parentSub } = read
    // If the document has the first part of an item, the new part follows this part. The update may claim
    // another place, which is ignored.
    const known = Y.getState(doc.store, client)
    if (clock + length <= known) return
    const place: ItemPlace = clock < known ? { kind: 'sibling', client, clock: known - 1 } : placeOf(read)
    if (kind === struct.doc) added += 1
    const end = clock + length
    addTo(items, client, {
      clock: Math.max(clock, known),
      end,
      isType: kind === struct.type,
      isRun: length > 1 && kind !== struct.deleted,
      place,
      isEntry: place.kind === 'sibling' ? undefined : parentSub !== null,
      depth: 0,
    })
  }
  const deletion = (client: number, clock: number, length: number): void => {
    deleted.push({ client, clock, length })
  }
  readUpdate(bytes, { item, deletion })
  if (added > 0 && doc.subdocs.size + added > subdocumentsMax)
    throw new MalformedUpdateError(`the document would have more than ${subdocumentsMax} subdocuments`)
  let deletedIds: RangeIndex<IdRange> | null = null
  const isDeleted = (client: number, { clock, end }: PlacedItem): boolean => {
    deletedIds ??= RangeIndex.of(disjoint(deleted))
    const found = deletedIds.at(client, clock)
    return found.range !== null && end <= found.end
  }
  for (const [client, list] of items)
    for (const item of list) {
      if (item.isType && depthOf(item, items, doc) >= limits.typeDepth)
        throw new MalformedUpdateError(`shared types are nested deeper than ${limits.typeDepth}`)
      if (item.isRun && isEntry(item, items, doc) && !isDeleted(client, item))
        throw new MalformedUpdateError('an entry of a map has more than one value')
    }
  return [...items.values()].every((list) => list.every((item) => hasPlace(item, items, doc)))
}

function placeOf({ origin, rightOrigin, parent }: ReadItem): ItemPlace {
  const sibling = origin ?? rightOrigin
  if (sibling !== null) return { kind: 'sibling', ...sibling }
  return parent === null || typeof parent === 'string' ? { kind: 'root' } : { kind: 'parent', ...parent }
}

/** Returns whether the item or type beside which an item is, or in which it is, is in the update or the document. */
function hasPlace({ place }: PlacedItem, items: PlacedItemsByClient, doc: Y.Doc): boolean {
  if (place.kind === 'root' || place.clock < Y.getState(doc.store, place.client)) return true
  return find(items, place.client, place.clock) !== undefined
}

/**
 * Returns whether an item is a map entry: Yjs gives an item with an origin the parent and the key of this origin. Notes
 * the answer in all items on the way to the first one that has a key or a parent.
 */
function isEntry(start: PlacedItem, items: PlacedItemsByClient, doc: Y.Doc): boolean {
  const chain: PlacedItem[] = []
  let answer = false
  for (let item: PlacedItem | undefined = start; item !== undefined; ) {
    if (item.isEntry !== undefined) {
      answer = item.isEntry
      break
    }
    // Yjs never integrates items with circular references.
    item.isEntry = false
    chain.push(item)
    const { place }: PlacedItem = item
    if (place.kind === 'root') break
    item = find(items, place.client, place.clock)
    if (item === undefined) answer = isEntryInDocument(place, doc)
  }
  for (const item of chain) item.isEntry = answer
  return answer
}

function isEntryInDocument({ client, clock }: StoredId, doc: Y.Doc): boolean {
  if (clock >= Y.getState(doc.store, client)) return false
  const item = Y.getItem(doc.store, Y.createID(client, clock))
  return item instanceof Y.Item && item.parentSub !== null
}

/**
 * Returns the number of types above an item. Follows the references from item to item within the update, and
 * then sets the depths in reverse order. Uses no recursion.
 */
function depthOf(start: PlacedItem, items: PlacedItemsByClient, doc: Y.Doc): number {
  const chain: PlacedItem[] = []
  let depth = 1
  for (let item: PlacedItem | undefined = start; item !== undefined; ) {
    if (item.depth > 0) {
      depth = item.depth + (chain.at(-1)?.place.kind === 'parent' ? 1 : 0)
      break
    }
    // Items with circular references never become complete, and Yjs never integrates them.
    if (item.depth === visiting) break
    item.depth = visiting
    chain.push(item)
    const place: ItemPlace = item.place
    if (place.kind === 'root') break
    item = find(items, place.client, place.clock)
    if (item === undefined) depth = depthInDocument(place, doc)
  }
  for (let index = chain.length - 1; index >= 0; index--) {
    const link = chain[index] as PlacedItem
    link.depth = depth
    if (index > 0 && (chain[index - 1] as PlacedItem).place.kind === 'parent') depth += 1
  }
  return start.depth
}

function find(items: PlacedItemsByClient, client: number, clock: number): PlacedItem | undefined {
  const list = items.get(client)
  if (list === undefined) return undefined
  let [low, high] = [0, list.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const item = list[middle] as PlacedItem
    if (clock < item.clock) high = middle - 1
    else if (clock >= item.end) low = middle + 1
    else return item
  }
  return undefined
}

/** Returns the depth of an item that refers to an item outside the update. */
function depthInDocument(place: Exclude<ItemPlace, { kind: 'root' }>, doc: Y.Doc): number {
  if (place.clock >= Y.getState(doc.store, place.client)) return 1
  let item: unknown = Y.getItem(doc.store, Y.createID(place.client, place.clock))
  let depth = place.kind === 'parent' ? 1 : 0
  while (item instanceof Y.Item) {
    depth += 1
    const { parent }: Y.Item = item
    item = parent instanceof Y.AbstractType ? parent._item : null
  }
  return Math.max(1, depth)
}
