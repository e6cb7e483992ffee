import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { Attribution } from '../update/attribution/attribution.ts'
import { RangeList } from '../update/attribution/range-list.ts'
import { keepingKinds, kindsIn } from './keep-kinds.ts'
import { contentPart } from './merge/copy-content.ts'
import { putItem } from './values/write-edits.ts'
import { createDoc } from './yjs/create-doc.ts'
import { type IdRange, RangeIndex } from './yjs/range-index.ts'
import type { SharedRoot } from './yjs/root-kind.ts'

/** Ids of a copy from `clock` on, and the ids that they copy. */
export interface CopiedIds {
  readonly clock: number
  readonly source: IdRange
}

/**
 * A new document with the present content of another one, under one client id that the other document does not
 * have. So the two documents never merge by accident. The copy has no deleted content and no formatting marks
 * without effect. References to subdocuments name the same subdocuments.
 */
export class FreshCopy {
  readonly doc = createDoc()
  /** The ids of the copy in order. Ids that only store the kind of an empty root are not among them. */
  readonly ids: readonly CopiedIds[]

  /**
   * Takes one pass over the items.
   * @throws Error if the document waits for missing updates: a copy would lose their content
   */
  constructor(source: Y.Doc) {
    const { pendingStructs, pendingDs, clients } = source.store
    if (pendingStructs !== null || pendingDs !== null) throw new Error('the document misses updates')
    while (clients.has(this.doc.clientID)) this.doc.clientID += 1
    const writer = new CopyWriter()
    this.doc.transact((transaction) => {
      for (const [name, root] of source.share) writer.fill(transaction, this.doc.get(name), root)
      keepingKinds(this.doc, kindsIn(source), () => ({ changed: true, insertions: 0, deletions: 0 }))
    })
    this.ids = writer.ids
  }

  /** Returns the attribution of the copy: each id has the origin of the id that it copies. */
  attribution({ inserted }: Attribution): Attribution {
    const index = new RangeIndex(inserted)
    const list = new RangeList()
    for (const { clock, source } of this.ids)
      for (const { range, clock: at, length } of index.parts(source)) {
        const from = clock + at - source.clock
        if (range !== null) list.add(from, from + length, () => range.origin)
      }
    return { inserted: new Map([[this.doc.clientID, list.ranges()]]), deleted: new Map() }
  }
}

class CopyWriter {
  readonly ids: CopiedIds[] = []

  /** Copies the content of a type into an empty one. */
  fill(transaction: Y.Transaction, type: SharedRoot, source: SharedRoot): void {
    for (const [key, item] of source._map)
      if (!item.deleted) this.#put(transaction, { type, key, left: null, right: null }, item, item.length - 1)
    const marks = effectiveMarks(source)
    let left: Y.Item | null = null
    for (let item = source._start; item !== null; item = item.right) {
      if (item.deleted || (item.content instanceof Y.ContentFormat && !marks.has(item))) continue
      left = this.#put(transaction, { type, key: null, left, right: null }, item, 0)
    }
  }

  #put(
    transaction: Y.Transaction,
    place: Parameters<typeof putItem>[1],
    item: Y.Item,
    offset: number,
  ): Y.Item {
    const length = item.length - offset
    const copy = putItem(transaction, place, contentPart(item.content, offset, length))
    this.#record(copy.id.clock, { client: item.id.client, clock: item.id.clock + offset, length })
    if (copy.content instanceof Y.ContentType && item.content instanceof Y.ContentType)
      this.fill(transaction, copy.content.type, item.content.type)
    return copy
  }

  #record(clock: number, source: IdRange): void {
    const last = this.ids.at(-1)
    const end = last === undefined ? 0 : last.source.clock + last.source.length
    if (last === undefined || last.source.client !== source.client || end !== source.clock)
      this.ids.push({ clock, source })
    else {
      const length = last.source.length + source.length
      this.ids[this.ids.length - 1] = { clock: last.clock, source: { ...last.source, length } }
    }
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
