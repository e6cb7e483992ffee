import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import type { IdRange } from '../../update/range-index.ts'
import type { putItem } from '../values/write-edits.ts'
import { type ItemRange, presentParts } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { copyContent, fillWithCopies } from './copy-content.ts'

/** Ids of a copy from `clock` on, and the ids that they copy. */
export interface CopiedIds {
  readonly clock: number
  readonly source: IdRange
}

/** Returns the parts of an item that a copy has. */
export type PartsOf = (item: Y.Item) => readonly ItemRange[]

/** Writes copies of items into a document, and notes their ids. */
export class CopyWriter {
  readonly ids: CopiedIds[] = []
  readonly #doc: Y.Doc
  readonly #partsOf: PartsOf

  /** @param partsOf the parts of an item that its copy has */
  constructor(doc: Y.Doc, partsOf: PartsOf) {
    this.#doc = doc
    this.#partsOf = partsOf
  }

  /** Copies the content of a type into one without content, after `left`. */
  fill(transaction: Y.Transaction, type: SharedRoot, source: SharedRoot, left: Y.Item | null = null): void {
    fillWithCopies(transaction, type, source, this.#noted, left)
  }

  /** Inserts a copy of a part of an item. */
  put(
    transaction: Y.Transaction,
    place: Parameters<typeof putItem>[1],
    item: Y.Item,
    part: ItemRange,
  ): Y.Item {
    this.#note(item, [part])
    return copyContent(transaction, place, item.content, part, this.#noted)
  }

  /** Returns the parts of an item, which are copied next. */
  readonly #noted: PartsOf = (item) => {
    const parts = this.#partsOf(item)
    const last = parts.at(-1)
    // The copy of an entry has the last value.
    const copied =
      item.parentSub === null || last === undefined
        ? parts
        : [{ offset: last.offset + last.length - 1, length: 1 }]
    this.#note(item, copied)
    return copied
  }

  #note({ id: { client, clock: start } }: Y.Item, parts: readonly ItemRange[]): void {
    let clock = Y.getState(this.#doc.store, this.#doc.clientID)
    for (const { offset, length } of parts) {
      const source = { client, clock: start + offset, length }
      const last = this.ids.at(-1)
      const isNext =
        last?.source.client === client &&
        last.clock + last.source.length === clock &&
        last.source.clock + last.source.length === source.clock
      if (isNext) {
        const joined = { ...last.source, length: last.source.length + length }
        this.ids[this.ids.length - 1] = { clock: last.clock, source: joined }
      } else this.ids.push({ clock, source })
      clock += length
    }
  }
}

/** Leaves out deleted items, and formatting marks without effect. */
export function effectiveParts(): PartsOf {
  const marks = new Map<SharedRoot, ReadonlySet<Y.Item>>()
  return (item) => {
    const type = item.parent as SharedRoot
    const isIdle =
      item.content instanceof Y.ContentFormat && !memoized(marks, type, () => effectiveMarks(type)).has(item)
    return isIdle ? [] : presentParts(item)
  }
}

/** Returns the formatting marks of a sequence that change the formatting of what follows. */
function effectiveMarks(type: SharedRoot): ReadonlySet<Y.Item> {
  const effective = new Set<Y.Item>()
  const values = new Map<string, unknown>()
  let gap = new Map<string, Y.Item>()
  for (let item = type._start; ; item = item.right) {
    if (item !== null && (item.deleted || !item.countable)) {
      if (!item.deleted && item.content instanceof Y.ContentFormat) gap.set(item.content.key, item)
      continue
    }
    for (const [key, mark] of gap) {
      const { value } = mark.content as Y.ContentFormat
      if (isDeepStrictEqual(values.get(key) ?? null, value)) continue
      values.set(key, value)
      effective.add(mark)
    }
    if (item === null) return effective
    if (gap.size > 0) gap = new Map()
  }
}
