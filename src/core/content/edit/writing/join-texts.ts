import * as Y from 'yjs'
import { writeOperations } from './source-edits.ts'

/** Returns the next item on a side that is not deleted. */
export function liveNeighbor(item: Y.Item, side: 'left' | 'right'): Y.Item | null {
  let next = item[side]
  while (next?.deleted) next = next[side]
  return next
}

/**
 * Joins two texts between which an element was deleted, because bindings of editors correct adjacent texts. The
 * characters of the longer one keep their identity. Texts with embeds or attributes stay.
 */
export function joinTexts(transaction: Y.Transaction, left: Y.Item | null, right: Y.Item | null): void {
  const [before, after] = [textOf(left), textOf(right)]
  if (before === null || after === null) return
  if (before.length < after.length) {
    writeOperations(after, insertsOf(before))
    left?.delete(transaction)
  } else {
    writeOperations(before, [{ retain: before.length }, ...insertsOf(after)])
    right?.delete(transaction)
  }
}

/** Returns the text of an item; null if it is something else, or has more than text. */
function textOf(item: Y.Item | null): Y.XmlText | null {
  if (!(item?.content instanceof Y.ContentType)) return null
  const { type } = item.content
  if (!(type instanceof Y.XmlText) || [...type._map.values()].some(({ deleted }) => !deleted)) return null
  return deltaOf(type).every(({ insert }) => typeof insert === 'string') ? type : null
}

const deltaOf = (type: Y.XmlText): { insert: unknown; attributes?: object }[] =>
  type.toDelta() as { insert: unknown; attributes?: object }[]

const insertsOf = (type: Y.XmlText): object[] =>
  deltaOf(type).map(({ insert, attributes }) => ({ insert, attributes: { ...attributes } }))
