import * as Y from 'yjs'
import { JsonInterner } from '../json/json-interner.ts'
import type { StoredValue } from './shared-values.ts'

/**
 * Assigns numbers to the stored values of one or two documents. Values have equal numbers if their JSON is
 * equal and they are shared at the same positions. The formatting of texts is ignored.
 */
export class StoredInterner {
  readonly #values = new JsonInterner()
  readonly #known = new Map<StoredValue, number>()

  of(stored: StoredValue): number {
    const known = this.#known.get(stored)
    if (known !== undefined) return known
    const number = this.#values.of([kindOf(stored), ...this.#content(stored)])
    this.#known.set(stored, number)
    return number
  }

  #content(stored: StoredValue): readonly (string | number)[] {
    if (stored.kind === 'array') return stored.elements.map((element) => this.of(element))
    if (stored.kind !== 'map') return [this.#values.of(stored.json)]
    const keys = [...stored.entries.keys()].sort()
    return keys.flatMap((key) => [key, this.of(stored.entries.get(key) as StoredValue)])
  }
}

function kindOf(stored: StoredValue): string {
  if (stored.kind !== 'opaque') return stored.kind
  if (stored.value instanceof Y.Doc) return 'subdocument'
  return stored.value instanceof Y.XmlElement ? `element ${stored.value.nodeName}` : 'opaque'
}
