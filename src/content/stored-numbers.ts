import * as Y from 'yjs'
import type { Stored } from './shared-values.ts'
import { ValueNumbers } from './value-numbers.ts'

/**
 * Numbers for stored values, of one document or of two: equal number, equal reading, and shared where the other is.
 * Formatting of texts is left out.
 */
export class StoredNumbers {
  readonly #values = new ValueNumbers()
  readonly #known = new Map<Stored, number>()

  of(stored: Stored): number {
    const known = this.#known.get(stored)
    if (known !== undefined) return known
    const number = this.#values.of([kindOf(stored), ...this.#content(stored)])
    this.#known.set(stored, number)
    return number
  }

  #content(stored: Stored): readonly (string | number)[] {
    if (stored.kind === 'array') return stored.elements.map((element) => this.of(element))
    if (stored.kind !== 'map') return [this.#values.of(stored.json)]
    const keys = [...stored.entries.keys()].sort()
    return keys.flatMap((key) => [key, this.of(stored.entries.get(key) as Stored)])
  }
}

/** A subdocument comes back as its reading. */
function kindOf(stored: Stored): string {
  if (stored.kind !== 'opaque') return stored.kind
  if (stored.value instanceof Y.Doc) return 'plain'
  return stored.value instanceof Y.XmlElement ? `element ${stored.value.nodeName}` : 'opaque'
}
