import * as Y from 'yjs'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { rowNames } from './xml-names.ts'

/** Returns the row of a table that an element is, or that contains it; null if there is none. */
export function rowAround(type: SharedRoot | null): SharedRoot | null {
  for (let row = type; row !== null; row = parentOf(row)) {
    const isRow = row instanceof Y.XmlElement && rowNames.has(row.nodeName)
    if (isRow && isBelowRoot(parentOf(row))) return row
  }
  return null
}

/** Returns whether a type is in a root, and not the root. */
export const isBelowRoot = (type: SharedRoot | null): boolean => type !== null && type._item !== null

/** Returns whether an element contains a type, or is the type. */
export function isWithin(type: SharedRoot | null, element: SharedRoot): boolean {
  for (let each = type; each !== null; each = parentOf(each)) if (each === element) return true
  return false
}

const parentOf = ({ _item: item }: SharedRoot): SharedRoot | null =>
  item?.parent instanceof Y.AbstractType ? item.parent : null
