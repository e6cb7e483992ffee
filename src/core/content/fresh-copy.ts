import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { memoized } from '../base/maps.ts'
import type { Attribution } from '../update/attribution/attribution.ts'
import { RangeList } from '../update/attribution/range-list.ts'
import type { StoredAnchor } from './edit/anchors.ts'
import { keepingKinds, kindsIn } from './keep-kinds.ts'
import { fillWithCopies } from './merge/copy-content.ts'
import { createDoc } from './yjs/create-doc.ts'
import { type ItemRange, typeWithId } from './yjs/items.ts'
import { type IdRange, RangeIndex } from './yjs/range-index.ts'
import type { SharedRoot } from './yjs/root-kind.ts'

/** Ids of a copy from `clock` on, and the ids that they copy. */
interface CopiedIds {
  readonly clock: number
  source: IdRange
}

/**
 * A new document with the present content of another one, under one client id that the other document does not
 * have. So the two documents never merge by accident. The copy has no deleted content and no formatting marks
 * without effect. References to subdocuments name the same subdocuments.
 */
export class FreshCopy {
  readonly doc = createDoc()
  /** The ids of the copy in order. Ids that only store the kind of an empty root are not among them. */
  readonly ids: CopiedIds[] = []
  readonly #source: Y.Doc

  /**
   * Takes one pass over the items.
   * @throws Error if the document waits for missing updates: a copy would lose their content
   */
  constructor(source: Y.Doc) {
    const { pendingStructs, pendingDs, clients } = source.store
    if (pendingStructs !== null || pendingDs !== null) throw new Error('the document misses updates')
    while (clients.has(this.doc.clientID)) this.doc.clientID += 1
    this.#source = source
    const marks = new Map<SharedRoot, ReadonlySet<Y.Item>>()
    const partsOf = (item: Y.Item): readonly ItemRange[] => {
      const type = item.parent as SharedRoot
      if (item.deleted) return []
      if (item.content instanceof Y.ContentFormat)
        if (!memoized(marks, type, () => effectiveMarks(type)).has(item)) return []
      const offset = item.parentSub === null ? 0 : item.length - 1
      const part = { offset, length: item.length - offset }
      this.#add({ client: item.id.client, clock: item.id.clock + offset, length: part.length })
      return [part]
    }
    this.doc.transact((transaction) => {
      for (const [name, root] of source.share) fillWithCopies(transaction, this.doc.get(name), root, partsOf)
      keepingKinds(this.doc, kindsIn(source), () => ({ changed: true, insertions: 0, deletions: 0 }))
    })
  }

  /** Notes the original of the item that is copied next. */
  #add(source: IdRange): void {
    const clock = Y.getState(this.doc.store, this.doc.clientID)
    const last = this.ids.at(-1)
    if (last?.source.client !== source.client || last.source.clock + clock - last.clock !== source.clock)
      this.ids.push({ clock, source })
    else last.source = { ...last.source, length: last.source.length + source.length }
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

  /**
   * Returns anchors at the same places of the copy. A position whose place was deleted stays as it is, because the copy
   * has no such place.
   */
  anchors(given: readonly StoredAnchor[]): readonly StoredAnchor[] {
    const index = RangeIndex.of(this.ids.map(({ clock, source }) => ({ ...source, copy: clock })))
    const typeOf = (type: SharedRoot): SharedRoot | null => {
      if (type._item === null) return this.doc.get(Y.findRootTypeKey(type))
      const { client, clock } = type._item.id
      const { range } = index.at(client, clock)
      if (range === null) return null
      return typeWithId(this.doc, { client: this.doc.clientID, clock: range.copy + clock - range.clock })
    }
    const moved = (text: string): string => {
      const position = Y.decodeRelativePosition(Buffer.from(text, 'base64'))
      const place = Y.createAbsolutePositionFromRelativePosition(position, this.#source)
      const type = place === null ? null : typeOf(place.type)
      if (place === null || type === null) return text
      const copied = Y.createRelativePositionFromTypeIndex(type, place.index, place.assoc)
      return Buffer.from(Y.encodeRelativePosition(copied)).toString('base64')
    }
    return given.map(({ contentKey, position, positionEnd }) => ({
      contentKey,
      position: moved(position),
      ...(positionEnd !== undefined && { positionEnd: moved(positionEnd) }),
    }))
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
