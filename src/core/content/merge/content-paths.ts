import { formatPointer } from '../json/json.ts'
import { SequenceIndexes } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** Finds the JSON pointers of types in their roots. */
export class ContentPaths {
  readonly #indexes = new SequenceIndexes()

  /** Returns the JSON pointer to a type in its root, or to an entry of it. */
  of(type: SharedRoot, key: string | null = null): string {
    const tokens = key === null ? [] : [key]
    for (let each = type; each._item !== null; each = each._item.parent as SharedRoot)
      tokens.push(each._item.parentSub ?? String(this.#indexes.of(each._item)))
    return formatPointer(tokens.reverse())
  }

  /** Call when a sequence has changed. */
  forget(type: SharedRoot): void {
    this.#indexes.forget(type)
  }
}
