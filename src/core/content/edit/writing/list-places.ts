import * as Y from 'yjs'
import type { XmlElement, XmlNode } from '../../xml/tree.ts'
import { parentOf, typesIn } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { listItemNames } from '../targets/xml-names.ts'
import { type ChildPlace, nameOf, placeAtEnd, placeNextTo } from './tree-places.ts'

/** New nodes, and the place for them. */
export interface PlacedNodes {
  readonly place: ChildPlace
  readonly nodes: readonly XmlNode[]
}

/**
 * Returns the places of new blocks. A list next to a list of the same kind, or in an item of it, becomes items of
 * this list, as in Markdown.
 * @param side the side of the target on which the blocks are; null if they are at an end of their parent
 */
export function placesOfLists(
  place: ChildPlace,
  nodes: readonly XmlNode[],
  side: 'before' | 'after' | null,
): readonly PlacedNodes[] {
  const items = itemsAround(place, nodes, side)
  if (items !== null) return [items]
  const [left, right] = neighborsOf(place)
  const [first, ...others] = nodes
  if (left !== null && isListLike(left, first))
    return [
      { place: placeAtEnd(left, 'end'), nodes: first.children },
      { place, nodes: others },
    ]
  const last = nodes.at(-1)
  if (right !== null && isListLike(right, last))
    return [
      { place, nodes: nodes.slice(0, -1) },
      { place: placeAtEnd(right, 'start'), nodes: last.children },
    ]
  return [{ place, nodes }]
}

/**
 * Returns the element whose attribute an edit of a block sets: the block, or the item of a list that starts with
 * it, if only the item has the attribute.
 */
export function ownerOfAttribute(block: SharedRoot, name: string): SharedRoot {
  const item = parentOf(block)
  if (item === null || !listItemNames.has(nameOf(item)) || typesIn(item)[0] !== block) return block
  return hasAttribute(item, name) && !hasAttribute(block, name) ? item : block
}

const hasAttribute = (type: SharedRoot, name: string): boolean => type._map.get(name)?.deleted === false

/** Returns the new lists as items next to the item that contains the place; null if there is no such item. */
function itemsAround(
  place: ChildPlace,
  nodes: readonly XmlNode[],
  side: 'before' | 'after' | null,
): PlacedNodes | null {
  const item = place.parent
  const list = listItemNames.has(nameOf(item)) ? parentOf(item) : null
  if (side === null || list === null || !nodes.every((node) => isListLike(list, node))) return null
  if (side === 'before' && neighborsOf(place)[0] !== null) return null
  const next = placeNextTo(item, side)
  const items = nodes.flatMap((node) => (node.kind === 'element' ? node.children : []))
  return next === null ? null : { place: next, nodes: items }
}

/** Returns whether an element is a list with items, and a new node is a list of the same kind. */
function isListLike(list: SharedRoot, node: XmlNode | undefined): node is XmlElement {
  if (node?.kind !== 'element' || node.name !== nameOf(list)) return false
  const [item] = typesIn(list)
  if (item === undefined || !listItemNames.has(nameOf(item))) return false
  return node.children.every((child) => child.kind === 'element' && child.name === nameOf(item))
}

/** Returns the live types before and after a place. */
export function neighborsOf({ parent, after }: ChildPlace): readonly [SharedRoot | null, SharedRoot | null] {
  let left = after
  while (left?.deleted === true) left = left.left
  let right = after === null ? parent._start : after.right
  while (right?.deleted === true) right = right.right
  return [typeOf(left), typeOf(right)]
}

const typeOf = (item: Y.Item | null): SharedRoot | null =>
  item?.content instanceof Y.ContentType ? item.content.type : null
