import * as Y from 'yjs'
import { putItem } from '../values/write-edits.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

type Content = Y.Item['content']
type Place = Parameters<typeof putItem>[1]

/** Inserts a copy of a part of the content of an item. The copy of a shared value has its present content. */
export function copyContent(
  transaction: Y.Transaction,
  place: Place,
  content: Content,
  { offset, length }: { readonly offset: number; readonly length: number },
): Y.Item {
  const item = putItem(transaction, place, contentPart(content, offset, length))
  if (content instanceof Y.ContentType && item.content instanceof Y.ContentType)
    fill(transaction, item.content.type, content.type)
  return item
}

function fill(transaction: Y.Transaction, target: SharedRoot, source: SharedRoot): void {
  for (const [key, { deleted, content, length }] of source._map)
    if (!deleted)
      copyContent(transaction, { type: target, key, left: null, right: null }, content, {
        offset: length - 1,
        length: 1,
      })
  let left: Y.Item | null = null
  for (let item = source._start; item !== null; item = item.right)
    if (!item.deleted)
      left = copyContent(transaction, { type: target, key: null, left, right: null }, item.content, {
        offset: 0,
        length: item.length,
      })
}

/** Returns a copy of a part of the content of an item. */
export function contentPart(content: Content, offset: number, length: number): Content {
  if (content instanceof Y.ContentString)
    return new Y.ContentString(content.str.slice(offset, offset + length))
  if (content instanceof Y.ContentAny) return new Y.ContentAny(content.arr.slice(offset, offset + length))
  if (content instanceof Y.ContentJSON) return new Y.ContentJSON(content.arr.slice(offset, offset + length))
  return content.copy()
}
