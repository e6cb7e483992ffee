import * as Y from 'yjs'
import { planFormatted } from './delta.ts'
import { fragmentKey, type Stored } from './shared-values.ts'
import type { NewValue } from './siblings.ts'
import { planXmlOf } from './xml.ts'

/**
 * A value that is made as it is in another document: what is shared there is shared again, with the formatting of its
 * texts. Subdocuments and single XML nodes become their reading.
 */
export function copyOf(past: Stored): NewValue {
  if (past.kind === 'map')
    return { as: 'map', entries: [...past.entries].map(([key, entry]) => [key, copyOf(entry)]) }
  if (past.kind === 'array') return { as: 'array', elements: past.elements.map(copyOf) }
  if (past.kind === 'text') return { as: 'formatted', update: planFormatted(undefined, past.type) }
  if (past.kind === 'xml') return { as: 'xml', update: planXmlOf(undefined, fragmentKey, past.type) }
  return { as: 'plain', value: isPlain(past.value) ? past.value : past.json }
}

const isPlain = (value: unknown): boolean => !(value instanceof Y.AbstractType || value instanceof Y.Doc)
