import * as Y from 'yjs'
import type { XmlElement, XmlNode } from '../../xml/tree.ts'
import { lastItem, parentOf, typesIn } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  blockNote,
  cellNames,
  isPlainTextblock,
  listItemNames,
  textblockNames,
} from '../targets/xml-names.ts'

/** A place among the children of a shared type. */
export interface ChildPlace {
  readonly parent: SharedRoot
  /** The item after which children are inserted; null: at the start. */
  readonly after: Y.Item | null
}

export const nameOf = (type: unknown): string => (type instanceof Y.XmlElement ? type.nodeName : '')

/**
 * Returns the element that a block is as a whole: in BlockNote, the container of the block with its nested
 * blocks.
 */
export function unitOf(type: SharedRoot): SharedRoot {
  const parent = parentOf(type)
  return parent !== null && nameOf(parent) === blockNote.container ? parent : type
}

/** Returns the place before or after a child; null if the type is a root. */
export function placeNextTo(type: SharedRoot, side: 'before' | 'after'): ChildPlace | null {
  const parent = parentOf(type)
  if (parent === null || type._item === null) return null
  return { parent, after: side === 'after' ? type._item : type._item.left }
}

/** Returns the place at an end of a root. In BlockNote, the blocks are in one group. */
export function placeAtEnd(root: SharedRoot, end: 'start' | 'end'): ChildPlace {
  const children = typesIn(root)
  const [only] = children
  if (children.length === 1 && only !== undefined && nameOf(only) === blockNote.group)
    return { parent: only, after: end === 'start' ? null : lastItem(only) }
  return { parent: root, after: end === 'start' ? null : lastItem(root) }
}

/** Returns the place at an end of the nested blocks of a container of BlockNote. */
export function placeInContainer(container: SharedRoot, end: 'start' | 'end'): ChildPlace {
  const last = typesIn(container).at(-1)
  if (last === undefined || nameOf(last) !== blockNote.group)
    return { parent: container, after: last?._item ?? null }
  return { parent: last, after: end === 'start' ? null : lastItem(last) }
}

/**
 * Returns whether a block at a place would be the first block of an item of a list, although it is not a
 * paragraph.
 */
export function needsParagraph({ parent, after }: ChildPlace, name: string): boolean {
  if (!startsWithParagraph(parent) || isParagraph(name)) return false
  for (let item = after; item !== null; item = item.left) if (!item.deleted) return false
  return true
}

/** Returns whether an element is an item of a list in an editor. In XML that is like HTML, items have text. */
const startsWithParagraph = (type: SharedRoot): boolean =>
  listItemNames.has(nameOf(type)) && nameOf(type) !== 'li'

/** Returns whether elements with this name are paragraphs, and not elements around blocks. */
const isParagraph = (name: string): boolean => textblockNames.includes(name) && isPlainTextblock(name)

/** Returns whether the next block after a paragraph of an item cannot be its first block. */
function isNeededParagraph(type: SharedRoot, item: SharedRoot): boolean {
  const [first, second] = typesIn(item)
  return (
    listItemNames.has(nameOf(item)) && first === type && second !== undefined && !isParagraph(nameOf(second))
  )
}

/**
 * Returns the element to remove with a block: the outermost element that would otherwise be empty. Returns
 * null if this is the cell of a table, or the only paragraph of an item of a list with other blocks, which must
 * stay.
 */
export function removableWith(type: SharedRoot): SharedRoot | null {
  let removed = type
  for (;;) {
    const parent = parentOf(removed)
    if (parent === null || parent._item === null) return removed
    if (hasOtherChildren(parent, removed)) return isNeededParagraph(removed, parent) ? null : removed
    if (cellNames.has(nameOf(parent))) return null
    removed = parent
  }
}

function hasOtherChildren(parent: SharedRoot, child: SharedRoot): boolean {
  for (let item = parent._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable || item === child._item) continue
    const { content } = item
    const isBlank =
      content instanceof Y.ContentType && content.type instanceof Y.XmlText && content.type._length === 0
    if (!isBlank) return true
  }
  return false
}

/** Returns the number of UTF-16 units and elements in a node, itself included. */
export function sizeOfNode(type: SharedRoot): number {
  const waiting: SharedRoot[] = [type]
  let size = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!(next instanceof Y.XmlText)) size += 1
    for (let item = next._start; item !== null; item = item.right) {
      if (item.deleted) continue
      if (item.content instanceof Y.ContentType) waiting.push(item.content.type)
      else if (item.countable) size += item.length
    }
  }
  return size
}

/**
 * Returns the last sibling in the section of a heading, or the heading itself.
 * @param levelOf returns the level of a heading; null for another node
 */
export function lastOfSection(heading: SharedRoot, levelOf: (type: SharedRoot) => number | null): SharedRoot {
  const level = levelOf(heading) ?? 0
  let last = heading
  for (let item = heading._item?.right ?? null; item !== null; item = item.right) {
    const next = item.deleted ? null : typeOf(item)
    const nextLevel = next === null ? null : levelOf(next)
    if (nextLevel !== null && nextLevel <= level) break
    last = next ?? last
  }
  return last
}

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

/** Returns the live type next to another one; null if there is none. */
export function siblingOf(type: SharedRoot, side: 'before' | 'after'): SharedRoot | null {
  const place = placeNextTo(type, side)
  return place === null ? null : neighborsOf(place)[side === 'before' ? 0 : 1]
}

const typeOf = (item: Y.Item | null): SharedRoot | null =>
  item?.content instanceof Y.ContentType ? item.content.type : null
