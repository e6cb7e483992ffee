import * as Y from 'yjs'
import { putItem } from '../values/write-edits.ts'
import { type ItemRange, presentParts } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

type Content = Y.Item['content']
type Place = Parameters<typeof putItem>[1]

/**
 * Inserts a copy of a part of the content of an item.
 * @param partsOf which parts of the items in a shared value its copy has; without it, the present ones
 */
export function copyContent(
  transaction: Y.Transaction,
  place: Place,
  content: Content,
  { offset, length }: ItemRange,
  partsOf = presentParts,
): Y.Item {
  const copy = putItem(transaction, place, contentPart(content, offset, length))
  if (content instanceof Y.ContentType && copy.content instanceof Y.ContentType)
    fillWithCopies(transaction, copy.content.type, content.type, partsOf)
  return copy
}

/**
 * Fills an empty shared type with copies of the content of another one, after the item `start`.
 * @param partsOf which parts of an item its copy has; called for each item once, directly before its copy is inserted
 */
export function fillWithCopies(
  transaction: Y.Transaction,
  target: SharedRoot,
  source: SharedRoot,
  partsOf: typeof presentParts,
  start: Y.Item | null = null,
): void {
  for (const [key, last] of source._map)
    for (let item: Y.Item | null = last; item !== null; item = item.left) {
      const part = partsOf(item).at(-1)
      if (part === undefined) continue
      const value = { offset: part.offset + part.length - 1, length: 1 }
      copyContent(transaction, { type: target, key, left: null, right: null }, item.content, value, partsOf)
      break
    }
  let left = start
  for (let item = source._start; item !== null; item = item.right)
    for (const part of partsOf(item)) {
      const place: Place = { type: target, key: null, left, right: null }
      left = copyContent(transaction, place, item.content, part, partsOf)
    }
}

/** Returns a copy of a part of the content of an item. */
export function contentPart(content: Content, offset: number, length: number): Content {
  if (content instanceof Y.ContentString)
    return new Y.ContentString(content.str.slice(offset, offset + length))
  if (content instanceof Y.ContentAny) return new Y.ContentAny(content.arr.slice(offset, offset + length))
  if (content instanceof Y.ContentJSON) return new Y.ContentJSON(content.arr.slice(offset, offset + length))
  return content.copy()
}
