import * as Y from 'yjs'
import { planFormatted } from '../delta/delta.ts'
import { fragmentKey, type StoredValue } from '../stored/shared-values.ts'
import { planXmlOf } from '../xml/xml.ts'
import type { NewValue } from './new-values.ts'

/**
 * Returns a new value that is equal to a value of another document. Values that were shared become shared
 * values again, with the formatting of their texts. A single XML node is created empty, and `ExactRestore`
 * fills it. A clone by Yjs is not possible here: it would remove the shared values inside texts from the
 * other document.
 */
export function copyValue(past: StoredValue): NewValue {
  if (past.kind === 'map')
    return { as: 'map', entries: [...past.entries].map(([key, entry]) => [key, copyValue(entry)]) }
  if (past.kind === 'array') return { as: 'array', elements: past.elements.map(copyValue) }
  if (past.kind === 'text') return { as: 'formatted', update: planFormatted(undefined, past.type) }
  if (past.kind === 'xml') return { as: 'xml', update: planXmlOf(undefined, fragmentKey, past.type) }
  const { value } = past
  if (value instanceof Y.AbstractType) return { as: 'node', make: () => value._copy() }
  if (value instanceof Y.Doc) return { as: 'subdocument', make: () => referenceTo(value) }
  return { as: 'plain', value }
}

/** Returns a new object for the same subdocument, because one object can be in only one position. */
const referenceTo = ({ guid, gc, autoLoad, meta }: Y.Doc): Y.Doc => new Y.Doc({ guid, gc, autoLoad, meta })
