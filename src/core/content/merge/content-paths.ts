import type * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import { formatPointer } from '../json/json.ts'
import { indexesIn } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** Finds the JSON pointers of types in their roots. */
export class ContentPaths {
  /** Indexes of the items of sequences, until a sequence changes. */
  readonly #indexes = new Map<SharedRoot, ReadonlyMap<Y.Item, number>>()

  /** Returns the JSON pointer to a type in its root, or to an entry of it. */
  of(type: SharedRoot, key: string | null = null): string {
    const tokens = key === null ? [] : [key]
    for (let each = type; each._item !== null; each = each._item.parent as SharedRoot)
      tokens.push(each._item.parentSub ?? String(this.#indexOf(each._item)))
    return formatPointer(tokens.reverse())
  }

  /** Call when a sequence has changed. */
  forget(type: SharedRoot): void {
    this.#indexes.delete(type)
  }

  #indexOf(item: Y.Item): number {
    const sequence = item.parent as SharedRoot
    const indexes = memoized(this.#indexes, sequence, () => indexesIn(sequence))
    return indexes.get(item) ?? 0
  }
}
