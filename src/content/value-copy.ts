import * as Y from 'yjs'
import { planFormatted } from './delta.ts'
import type { Root } from './kind.ts'
import { fragmentKey, type Stored } from './shared-values.ts'
import type { NewValue } from './siblings.ts'
import { planXmlOf } from './xml.ts'

/**
 * A value that is made as it is in another document: what is shared there is shared again, with the formatting of its
 * texts. A subdocument becomes its reading. A single XML node is made empty: `Exactness` fills it, since Yjs's own clones
 * take shared values that are in texts out of their document.
 */
export function copyOf(past: Stored): NewValue {
  if (past.kind === 'map')
    return { as: 'map', entries: [...past.entries].map(([key, entry]) => [key, copyOf(entry)]) }
  if (past.kind === 'array') return { as: 'array', elements: past.elements.map(copyOf) }
  if (past.kind === 'text') return { as: 'formatted', update: planFormatted(undefined, past.type) }
  if (past.kind === 'xml') return { as: 'xml', update: planXmlOf(undefined, fragmentKey, past.type) }
  const { value } = past
  if (value instanceof Y.AbstractType) return { as: 'node', make: () => value._copy() as Root }
  return { as: 'plain', value: value instanceof Y.Doc ? past.json : value }
}
