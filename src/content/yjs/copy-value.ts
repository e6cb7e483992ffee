import * as Y from 'yjs'
import { planFormatted } from '../delta/delta.ts'
import { planXmlOf } from '../xml/xml.ts'
import type { NewValue } from './new-values.ts'
import type { SharedRoot } from './root-kind.ts'
import { fragmentKey, type StoredValue } from './shared-values.ts'

/**
 * Returns a new value equal to one of another document. Shared values become shared values again, with the
 * formatting of their texts. A single XML node is created empty and filled by `ExactRestore`, because Yjs's
 * own clones remove shared values that are in texts from their document.
 */
export function copyValue(past: StoredValue): NewValue {
  if (past.kind === 'map')
    return { as: 'map', entries: [...past.entries].map(([key, entry]) => [key, copyValue(entry)]) }
  if (past.kind === 'array') return { as: 'array', elements: past.elements.map(copyValue) }
  if (past.kind === 'text') return { as: 'formatted', update: planFormatted(undefined, past.type) }
  if (past.kind === 'xml') return { as: 'xml', update: planXmlOf(undefined, fragmentKey, past.type) }
  const { value } = past
  if (value instanceof Y.AbstractType) return { as: 'node', make: () => value._copy() as SharedRoot }
  if (value instanceof Y.Doc) return { as: 'subdocument', make: () => referenceTo(value) }
  return { as: 'plain', value }
}

/** A subdocument is in one place only: another reference to it is another object. */
const referenceTo = ({ guid, gc, autoLoad, meta }: Y.Doc): Y.Doc => new Y.Doc({ guid, gc, autoLoad, meta })
