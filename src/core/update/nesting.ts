import * as Y from 'yjs'
import { limits } from '../model/limits.ts'
import { struct } from './item-content.ts'
import { MalformedUpdateError } from './malformed.ts'
import { type ItemPlace, type ReadItem, readUpdate } from './read-update.ts'

interface NestedItem {
  readonly clock: number
  readonly end: number
  readonly isType: boolean
  readonly place: ItemPlace
  /**
   * Number of types above the item, including the root. 0: not determined yet; `visiting`: being determined.
   */
  depth: number
}

const visiting = -1

type NestedItemsByClient = Map<number, NestedItem[]>

/**
 * Rejects an update if one of its new shared types would be nested too deep. The types of `doc` above it
 * count as well. The limit is needed because Yjs deletes, copies and encodes nested types by recursion. Items
 * that refer to missing structs count as items at the top level; they are checked again when the missing
 * structs have arrived.
 * @throws MalformedUpdateError
 */
export function checkNesting(bytes: Uint8Array, doc: Y.Doc): void {
  const items: NestedItemsByClient = new Map()
  const item = ({ client, clock, length, kind, place: claimed }: ReadItem): void => {
    // If the document has the first part of an item, the new part follows this part. The update may claim
    // another place, which is ignored.
    const known = Y.getState(doc.store, client)
    if (clock + length <= known) return
    const place: ItemPlace = clock < known ? { kind: 'sibling', client, clock: known - 1 } : claimed
    const list = items.get(client) ?? []
    if (list.length === 0) items.set(client, list)
    list.push({
      clock: Math.max(clock, known),
      end: clock + length,
      isType: kind === struct.type,
      place,
      depth: 0,
    })
  }
  readUpdate(bytes, { item })
  for (const list of items.values()) {
    for (const item of list) {
      if (item.isType && depthOf(item, items, doc) >= limits.typeDepth) {
        throw new MalformedUpdateError(`shared types are nested deeper than ${limits.typeDepth}`)
      }
    }
  }
}

/**
 * Returns the number of types above an item. Follows the references from item to item within the update, and
 * then sets the depths in reverse order. Uses no recursion.
 */
function depthOf(start: NestedItem, items: NestedItemsByClient, doc: Y.Doc): number {
  const chain: NestedItem[] = []
  let depth = 1
  for (let item: NestedItem | undefined = start; item !== undefined; ) {
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
    const link = chain[index] as NestedItem
    link.depth = depth
    if (index > 0 && (chain[index - 1] as NestedItem).place.kind === 'parent') depth += 1
  }
  return start.depth
}

function find(items: NestedItemsByClient, client: number, clock: number): NestedItem | undefined {
  const list = items.get(client)
  if (list === undefined) return undefined
  let [low, high] = [0, list.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const item = list[middle] as NestedItem
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
