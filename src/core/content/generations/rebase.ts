import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import { checkPlaces } from '../../update/check-places.ts'
import { deletedRanges } from '../../update/deletions.ts'
import { noPlacements, withinBudget } from '../../update/integration.ts'
import { disjoint, type IdRange, RangeIndex, type StoredId, withoutIds } from '../../update/range-index.ts'
import { CopyWriter, type PartsOf } from '../copies/copy-writer.ts'
import { createDoc, noGuid } from '../yjs/create-doc.ts'
import { deleteIds, type ItemRange, idOf, itemIn, rangeOfItem } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { gcOf, type Struct, skipOf, updateOf } from '../yjs/struct-bytes.ts'
import { type Archive, copyClientMin, type Generations, type NestedCopy, referredIds } from './generations.ts'
import { newCopyClient } from './prune-state.ts'

export interface Rebased {
  /** The update (V1) for all clients: the edit at its present places, and the deletion of the items of the sender. */
  readonly update: Uint8Array
  /** The whole state (V1) of the document with `update`. */
  readonly state: Uint8Array
  /** The replaced items of the sender; null if the edit has no items of an earlier generation. */
  readonly archive: Archive | null
  /** The state with the parts of the edit whose places were deleted; null if there are none. */
  readonly unplaced: Uint8Array | null
}

/**
 * Applies the edit of a client that had not received a prune to the present document. Its items are copied to the places
 * at which the copies of their neighbors are now, and its deletions apply to the copies. The result is that of an edit
 * that was made concurrently in the present document.
 * @param items for each archive that the update needs (`neededBy`), by its client id: the state before its prune, or the
 * update of its edit (V1)
 * @param present the whole state (V1) of the document
 * @param update a vetted update for which `generations.concern` is true
 * @param stepsMax maximum steps in which Yjs reads both documents and integrates the update
 * @returns null if the update has nothing new; `incomplete` if it depends on updates that the document lacks
 * @throws MalformedUpdateError, IntegrationTooExpensiveError
 */
export function rebase(
  generations: Generations,
  items: ReadonlyMap<number, Uint8Array>,
  present: Uint8Array,
  update: Uint8Array,
  stepsMax = Number.POSITIVE_INFINITY,
): Rebased | 'incomplete' | null {
  const union = new Y.Doc({ ...noGuid, gc: false })
  const doc = createDoc()
  try {
    return withinBudget({ doc: union, stepsMax, ...noPlacements }, () => {
      for (const bytes of allItems(generations, items, present)) Y.applyUpdate(union, bytes)
      checkPlaces(update, union)
      applyNew(union, update)
      if (union.store.pendingStructs !== null || union.store.pendingDs !== null) return 'incomplete'
      Y.applyUpdate(doc, present)
      return new EditRebase(generations, union, doc, update).run()
    })
  } finally {
    union.destroy()
    doc.destroy()
  }
}

/** Applies the new part of an update. Yjs throws if it gets more of an item that it has as garbage. */
const applyNew = (doc: Y.Doc, update: Uint8Array): void =>
  Y.applyUpdate(doc, Y.diffUpdate(update, Y.encodeStateVector(doc)))

/**
 * Yields updates that have the present items and those of archives together. Garbage is left out if an archive has its
 * items: these may depend on items of later updates.
 */
export function* allItems(
  { archives }: Generations,
  items: ReadonlyMap<number, Uint8Array>,
  present: Uint8Array,
): Generator<Uint8Array> {
  const replaced: IdRange[] = []
  for (const { client, old } of archives) {
    const bytes = items.get(client)
    if (bytes === undefined) continue
    yield withoutGarbage(bytes, RangeIndex.of(disjoint(replaced)))
    for (const each of old) replaced.push(each)
  }
  yield withoutGarbage(present, RangeIndex.of(disjoint(replaced)))
}

function withoutGarbage(bytes: Uint8Array, replaced: RangeIndex<IdRange>): Uint8Array {
  const { structs, ds } = Y.decodeUpdate(bytes)
  const parts = structs.flatMap((each): readonly Struct[] => {
    const {
      id: { client, clock },
      length,
    } = each
    if (!(each instanceof Y.GC)) return [each]
    return [...replaced.parts({ client, clock, length })].map((part) =>
      part.range === null ? gcOf(part) : skipOf(part),
    )
  })
  return updateOf(parts, [...deletedRanges(ds)])
}

interface PlacementOutcome {
  readonly copies: readonly NestedCopy[]
  /** The types whose new items have no place, because they were deleted. */
  readonly unplaced: readonly SharedRoot[]
}

class EditRebase {
  readonly #generations: Generations
  /** The present items, those that the edit needs, and its own, as its sender has them when it has received everything. */
  readonly #union: Y.Doc
  readonly #doc: Y.Doc
  readonly #structs: readonly Struct[]
  readonly #deleted: readonly IdRange[]
  readonly #clocks: ReadonlyMap<number, number>
  /** The new items that refer to replaced ids. */
  readonly #edits: readonly IdRange[]
  /** As for `Archive`. */
  readonly #refersTo: readonly IdRange[]
  readonly #editIndex: RangeIndex<IdRange>
  readonly #deletedIndex: RangeIndex<IdRange>

  constructor(generations: Generations, union: Y.Doc, doc: Y.Doc, update: Uint8Array) {
    const { structs, ds } = Y.decodeUpdate(update)
    this.#generations = generations
    this.#union = union
    this.#doc = doc
    this.#structs = structs
    this.#deleted = [...deletedRanges(ds)]
    this.#clocks = Y.decodeStateVector(Y.encodeStateVector(doc))
    this.#edits = this.#findEdits()
    this.#refersTo = withoutIds(referredIds(update, this.#clocks), this.#edits)
    this.#editIndex = RangeIndex.of(this.#edits)
    this.#deletedIndex = RangeIndex.of(disjoint(this.#deleted))
  }

  run(): Rebased | null {
    const added: Uint8Array[] = []
    const [doc, edits, client] = [this.#doc, this.#edits, this.#newClient()]
    doc.on('update', (bytes: Uint8Array) => void added.push(bytes))
    const mark = { client, clock: 0, length: 1 }
    const replaced = edits.length === 0 ? [] : [...edits, mark]
    const garbage = edits.length === 0 ? [] : [gcOf(mark)]
    applyNew(doc, updateOf([...this.#withoutEdits(), ...garbage], [...this.#deleted, ...replaced]))
    doc.clientID = client
    const { copies, unplaced } = this.#write((transaction) => {
      for (const range of this.#generations.deletedCopies(this.#deleted)) deleteIds(transaction, range)
      return this.#place(transaction, this.#tops(), this.#livingParts)
    })
    if (added.length === 0) return null
    const { edge, count: generation } = this.#generations
    return {
      // Yjs does not report the deletion of items that it has never had.
      update: Y.mergeUpdates([...added, updateOf([], replaced)]),
      state: Y.encodeStateAsUpdate(doc),
      archive:
        edits.length === 0
          ? null
          : { client, copies, old: edits, refersTo: this.#refersTo, edge, generation },
      unplaced: unplaced.length === 0 ? null : this.#withUnplaced(unplaced),
    }
  }

  /** Returns a client id for copies, greater than that of the last archive. */
  #newClient(): number {
    const next = newCopyClient(this.#clocks)
    if (next !== null) return next
    let client = (this.#generations.archives.at(-1)?.client ?? copyClientMin) + 1
    while (this.#clocks.has(client)) client += 1
    return client
  }

  /** Runs `work` in a transaction of both documents, because it splits items in both. */
  #write<T>(work: (transaction: Y.Transaction) => T): T {
    return this.#union.transact(() => this.#doc.transact(work))
  }

  /** Finds the new items that refer to replaced ids, or to other such items. */
  #findEdits(): readonly IdRange[] {
    const found: IdRange[] = []
    const candidates = this.#structs.filter((each): each is Y.Item => each instanceof Y.Item)
    for (let before = -1; before < found.length; ) {
      before = found.length
      const index = RangeIndex.of(found)
      const isEdit = (id: StoredId | null): boolean =>
        id !== null && (this.#generations.isOld(id) || index.has(id.client, id.clock))
      for (const { id, length, origin, rightOrigin, parent } of candidates) {
        const { client } = id
        const clock = Math.max(id.clock, this.#clocks.get(client) ?? 0)
        if (clock >= id.clock + length || index.has(client, clock)) continue
        const left = clock > id.clock ? { client, clock: clock - 1 } : origin
        const inside = parent instanceof Y.ID ? parent : null
        if (isEdit(left) || isEdit(rightOrigin) || isEdit(inside))
          found.push({ client, clock, length: id.clock + length - clock })
      }
    }
    return found
  }

  /** Returns the structs of the update, with the found items as garbage. */
  #withoutEdits(): readonly Struct[] {
    return this.#structs.map((each) => {
      const { client, clock } = each.id
      const isEdit = this.#editIndex.has(client, clock + each.length - 1)
      return isEdit ? gcOf({ client, clock, length: each.length }) : each
    })
  }

  /** Returns the found items that are not inside others, by the type that contains them. */
  #tops(): ReadonlyMap<SharedRoot, ReadonlySet<Y.Item>> {
    const tops = new Map<SharedRoot, Set<Y.Item>>()
    for (const item of this.#union.transact((transaction) => itemsOf(transaction, this.#edits))) {
      const parent = item.parent as SharedRoot
      if (parent._item !== null && this.#isEdit(parent._item)) continue
      memoized(tops, parent, () => new Set<Y.Item>()).add(item)
    }
    return tops
  }

  /** Copies items to the places of their neighbors. */
  #place(
    transaction: Y.Transaction,
    tops: ReadonlyMap<SharedRoot, ReadonlySet<Y.Item>>,
    partsOf: PartsOf,
  ): PlacementOutcome {
    const unplaced: SharedRoot[] = []
    const copies: NestedCopy[] = []
    for (const [type, items] of tops) {
      const living = new Map([...items].map((item) => [item, partsOf(item)]))
      const target = this.#typeFor(type)
      const writer = new CopyWriter(this.#doc, partsOf)
      if (target !== null) this.#placeIn(transaction, writer, target, type, living)
      else if ([...living.values()].some((parts) => parts.length > 0)) unplaced.push(type)
      const inside = type._item === null ? 0 : this.#generations.replacedBy(idOf(type._item))
      for (const each of writer.ids) copies.push({ ...each, inside })
    }
    return { copies, unplaced }
  }

  #placeIn(
    transaction: Y.Transaction,
    writer: CopyWriter,
    target: SharedRoot,
    type: SharedRoot,
    items: ReadonlyMap<Y.Item, readonly ItemRange[]>,
  ): void {
    let left: Y.Item | null = null
    for (let item = type._start; item !== null; item = item.right) {
      if (!items.has(item)) left = this.#presentEnd(transaction, target, item) ?? left
      for (const part of items.get(item) ?? []) {
        const right: Y.Item | null = left === null ? target._start : left.right
        left = writer.put(transaction, { type: target, key: null, left, right }, item, part)
      }
    }
    for (const [item, parts] of items) {
      const { parentSub: key } = item
      const last = parts.at(-1)
      if (key === null || last === undefined) continue
      const place = { type: target, key, left: target._map.get(key) ?? null, right: null }
      writer.put(transaction, place, item, { offset: last.offset + last.length - 1, length: 1 })
    }
    if (target._searchMarker !== null) target._searchMarker.length = 0
  }

  /** Returns the last present item of a sequence for an item of the union; null if there is none. */
  #presentEnd(transaction: Y.Transaction, target: SharedRoot, item: Y.Item): Y.Item | null {
    for (const id of this.#generations.lastCopiesOf(rangeOfItem(item)).toReversed()) {
      if (this.#generations.isOld(id) || itemIn(this.#doc, id)?.parent !== target) continue
      return Y.getItemCleanEnd(transaction, this.#doc.store, Y.createID(id.client, id.clock))
    }
    return null
  }

  /** Returns the present type for a type of the union; null if it was deleted. */
  #typeFor(type: SharedRoot): SharedRoot | null {
    if (type._item === null) return this.#doc.get(Y.findRootTypeKey(type))
    const [id] = this.#generations.copiesOf({ ...idOf(type._item), length: 1 })
    const item = id === undefined ? null : itemIn(this.#doc, id)
    return item?.content instanceof Y.ContentType && !item.deleted ? item.content.type : null
  }

  #isEdit = ({ id: { client, clock } }: Y.Item): boolean => this.#editIndex.has(client, clock)

  /** Returns the parts of a new item that its sender has not deleted. */
  readonly #livingParts: PartsOf = (item) => {
    const { clock: start } = item.id
    return [...this.#editIndex.parts(rangeOfItem(item))].flatMap((part) =>
      part.range === null
        ? []
        : [...this.#deletedIndex.parts(part)]
            .filter(({ range }) => range === null)
            .map(({ clock, length }) => ({ offset: clock - start, length })),
    )
  }

  /** Returns the state with the deleted types that contain the items, without their former content. */
  #withUnplaced(types: readonly SharedRoot[]): Uint8Array {
    const path = new Set<Y.Item>()
    const tops = new Map<SharedRoot, Set<Y.Item>>()
    for (const type of types) {
      let item = type._item as Y.Item
      for (
        ;
        this.#typeFor(item.parent as SharedRoot) === null;
        item = (item.parent as SharedRoot)._item as Y.Item
      )
        path.add(item)
      path.add(item)
      memoized(tops, item.parent as SharedRoot, () => new Set<Y.Item>()).add(item)
    }
    const onPath: PartsOf = (item) => (path.has(item) ? [{ offset: 0, length: 1 }] : this.#livingParts(item))
    this.#write((transaction) => this.#place(transaction, tops, onPath))
    return Y.encodeStateAsUpdate(this.#doc)
  }
}

/** Returns the items with these ids, of which those at the ends are split. */
function itemsOf(transaction: Y.Transaction, ranges: readonly IdRange[]): readonly Y.Item[] {
  const items: Y.Item[] = []
  for (const { client, clock, length } of ranges)
    for (let at = clock, end = clock + length; at < end; ) {
      const item: Y.Item | Y.GC = Y.getItemCleanStart(transaction, Y.createID(client, at))
      // Garbage is not split, and may start before.
      at = item.id.clock + item.length
      if (at > end) Y.getItemCleanStart(transaction, Y.createID(client, end))
      if (item instanceof Y.Item) items.push(item)
    }
  return items
}
