import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import { type IdRange, withoutIds } from '../../update/range-index.ts'
import { rootNames } from '../roots.ts'
import { isKindEntry, type SharedRoot } from '../yjs/root-kind.ts'
import { nameOfType, valuesOf } from '../yjs/sequence-content.ts'
import type { RestoredCopies } from './restored-copies.ts'
import { rangeOfSegment, type Segment, type SegmentReader } from './segments.ts'
import type { SelectedIds, SelectedRange } from './undo-selection.ts'
import { type EntryValue, formOfRoot, formOfType } from './version-values.ts'

/** Deleted content of a sequence that an undo inserts again, directly before its old place. */
export interface PlannedCopy extends IdRange {
  readonly type: SharedRoot
  /** True if the content was inserted after the earlier version. */
  readonly isTransient: boolean
}

/** An entry that gets an older value. */
interface PlannedEntry {
  readonly type: SharedRoot
  readonly key: string
  /** The older value; null: the entry is deleted. */
  readonly value: EntryValue | null
}

/** Plans the operations of an undo. The document does not change meanwhile. */
export class UndoPlan {
  readonly copies: PlannedCopy[] = []
  readonly deletions: readonly IdRange[]
  readonly entries: PlannedEntry[] = []
  /** Types whose formatting the undo may change. */
  readonly texts = new Set<SharedRoot>()
  readonly #reader: SegmentReader
  readonly #selected: SelectedIds
  readonly #restored: RestoredCopies
  readonly #deletions: IdRange[] = []
  /** Copies of an earlier undo that stay, because this undo would insert them again. */
  readonly #kept: IdRange[] = []
  /** The deleted values that are shared types. */
  readonly #deletedTypes = new Set<Y.Item>()
  /** For types that were inserted by selected changes: whether selected changes have also inserted all live content in them. */
  readonly #isOwn = new Map<SharedRoot, boolean>()
  /** Texts, elements, and the maps in them. Their entries are attributes. The entries of other maps are JSON. */
  readonly #inElements = new Set<SharedRoot>()

  constructor(reader: SegmentReader, selected: SelectedIds, restored: RestoredCopies) {
    this.#reader = reader
    this.#selected = selected
    this.#restored = restored
    const { doc } = reader.history
    for (const name of rootNames(doc)) {
      const root = doc.share.get(name) as SharedRoot
      const form = formOfRoot(doc, name)
      if (form === 'text' || form === 'xml') this.#inElements.add(root)
      this.#type(root)
    }
    this.deletions = withoutIds(this.#deletions, this.#kept)
  }

  #type(type: SharedRoot): void {
    if (this.#isInElement(type)) this.#inElements.add(type)
    for (const [key, last] of type._map) if (!isKindEntry(key)) this.#entry(type, key, last)
    for (let item = type._start; item !== null; item = item.right)
      for (const segment of this.#reader.of(item)) this.#segment(type, segment)
  }

  #isInElement(type: SharedRoot): boolean {
    if (type._item === null) return false
    const form = formOfType(type)
    if (form === 'text' || form === 'xml') return true
    return type._item.parent instanceof Y.AbstractType && this.#inElements.has(type._item.parent)
  }

  #segment(type: SharedRoot, segment: Segment): void {
    const { item } = segment
    const { content } = item
    const inserted = this.#insertedIn(segment)
    const deleted = this.#deletedIn(segment)
    if (content instanceof Y.ContentFormat) {
      if (inserted !== null || deleted !== null) this.texts.add(type)
      return
    }
    if (!item.deleted) {
      if (inserted === null) {
        if (content instanceof Y.ContentType) this.#type(content.type)
      } else if (this.#canDelete(item, inserted)) this.#delete(rangeOfSegment(segment))
      return
    }
    if (inserted !== null) this.#deleteCopies(segment, inserted)
    else if (deleted !== null) return this.#restore(type, segment, deleted)
    if (content instanceof Y.ContentType) this.#reportIn(content.type)
  }

  /** Returns whether an inserted value may be deleted. If not, undoes the changes inside of it. */
  #canDelete(item: Y.Item, inserted: SelectedRange): boolean {
    const { content } = item
    if (!(content instanceof Y.ContentType)) return true
    if (this.#containsOnlyOwn(content.type) && !this.#isBeforeOthersText(item)) return true
    this.#selected.report(inserted, 'contains-other-changes')
    this.#type(content.type)
    return false
  }

  /**
   * Returns whether text of others follows a map in a nested text. In Lexical, such a map is the node of the text up
   * to the next value, and the editor deletes text that has no node.
   */
  #isBeforeOthersText({ parent, parentSub, content, right }: Y.Item): boolean {
    if (!(parent instanceof Y.XmlText) || parentSub !== null) return false
    if (!(content instanceof Y.ContentType && content.type instanceof Y.Map)) return false
    for (let item = right; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      if (!(item.content instanceof Y.ContentString)) return false
      if (
        this.#reader.of(item).some((segment) => this.#insertedIn(segment) === null) &&
        !this.#isOwnCopy(item)
      )
        return true
    }
    return false
  }

  #containsOnlyOwn(type: SharedRoot): boolean {
    return memoized(this.#isOwn, type, () =>
      [...itemsOf(type)].every(
        (item) =>
          item.deleted ||
          !item.countable ||
          this.#isOwnCopy(item) ||
          this.#isOwnValue(item) ||
          (this.#reader.of(item).every((segment) => this.#insertedIn(segment) !== null) &&
            (!(item.content instanceof Y.ContentType) || this.#containsOnlyOwn(item.content.type))),
      ),
    )
  }

  /** Returns whether an earlier undo has inserted the item as a copy of content that selected changes had inserted. */
  #isOwnCopy(item: Y.Item): boolean {
    const { rightOrigin, parentSub, content } = item
    if (rightOrigin === null || parentSub !== null || content instanceof Y.ContentType) return false
    return this.#isOfUndo(item.id) && this.#selected.inserted.has(rightOrigin.client, rightOrigin.clock)
  }

  /** Returns whether an earlier undo has given an entry an older value of the selected changes. */
  #isOwnValue({ id, left, parentSub, content }: Y.Item): boolean {
    if (parentSub === null || left === null || content instanceof Y.ContentType || !this.#isOfUndo(id))
      return false
    const value = valuesOf(content).at(-1)
    for (let older: Y.Item | null = left; older !== null; older = older.left) {
      if (this.#isOfUndo(older.id)) continue
      const values = valuesOf(older.content)
      for (const segment of this.#reader.of(older).toReversed()) {
        const part = values.slice(segment.offset, segment.offset + segment.length)
        if (part.some((each) => isDeepStrictEqual(each, value)))
          return this.#insertedIn(segment) !== null || this.#selected.isPassing(segment)
      }
    }
    return false
  }

  #isOfUndo = (id: Y.ID): boolean => this.#reader.inserterOf(id)?.source === 'undo'

  #delete(range: IdRange): void {
    this.#deletions.push(range)
    const item = this.#itemAt(range)
    if (item instanceof Y.Item && item.content instanceof Y.ContentType) this.#deletedTypes.add(item)
  }

  #itemAt({ client, clock }: Pick<IdRange, 'client' | 'clock'>): Y.Item | Y.GC {
    return Y.getItem(this.#reader.history.doc.store, Y.createID(client, clock))
  }

  /** Deletes the copies of content that was inserted by the selected changes and restored by an earlier undo. */
  #deleteCopies({ item, offset, length }: Segment, inserted: SelectedRange): void {
    const { id, content } = item
    for (let at = id.clock + offset, end = at + length; at < end; ) {
      const { copy, end: next } = this.#restored.at(id.client, at)
      const copied = Math.min(end, next) - at
      if (copy !== null) {
        const isOwn = !(content instanceof Y.ContentType) || this.#wasOnlyOwn(content.type)
        if (isOwn) this.#delete({ client: copy.client, clock: copy.clock, length: copied })
        else this.#selected.report(inserted, 'contains-other-changes')
      }
      at += copied
    }
  }

  /** Returns whether all content of a deleted value was inserted by selected changes. */
  #wasOnlyOwn = (type: SharedRoot): boolean =>
    [...itemsOf(type)].every(
      (item) =>
        this.#reader.of(item).every((segment) => this.#insertedIn(segment) !== null) &&
        (!(item.content instanceof Y.ContentType) || this.#wasOnlyOwn(item.content.type)),
    )

  #restore(type: SharedRoot, segment: Segment, deleted: SelectedRange): void {
    const { item, offset, length, state } = segment
    if (item.content instanceof Y.ContentDeleted) return this.#selected.report(deleted, 'content-lost')
    if (this.#isOwnCopy(item)) return
    const { client, clock } = item.id
    for (let at = clock + offset, end = at + length; at < end; ) {
      const found = this.#restored.at(client, at)
      const next = Math.min(end, found.end)
      if (found.copy !== null && !this.#isDeletedType(found.copy))
        this.#kept.push({ client: found.copy.client, clock: found.copy.clock, length: next - at })
      else {
        const place = found.place ?? { client, clock: at }
        const copied = { client: place.client, clock: place.clock, length: next - at }
        this.copies.push({ type, ...copied, isTransient: state === 'transient' })
        this.texts.add(type)
      }
      at = next
    }
  }

  /** Returns whether the id is that of a shared type that this undo deletes. */
  #isDeletedType(id: Y.ID): boolean {
    const item = this.#itemAt(id)
    return item instanceof Y.Item && this.#deletedTypes.has(item)
  }

  /** Reports the deletions in a value that another change has deleted. */
  #reportIn(type: SharedRoot): void {
    for (const item of itemsOf(type))
      for (const segment of this.#reader.of(item)) {
        const deleted = this.#deletedIn(segment)
        if (deleted !== null && item.countable && this.#insertedIn(segment) === null)
          this.#selected.report(deleted, 'deleted-container')
        if (item.content instanceof Y.ContentType) this.#reportIn(item.content.type)
      }
  }

  #entry(type: SharedRoot, key: string, last: Y.Item): void {
    const chain = this.#chainOf(type, last)
    const touched = chain.findIndex(({ inserted, deleted }) => inserted !== null || deleted !== null)
    const { content } = last
    if (touched === -1) {
      if (content instanceof Y.ContentType && !last.deleted) this.#type(content.type)
      return
    }
    const change = chain[touched] as ChainedValue
    const cause = (change.inserted ?? change.deleted) as SelectedRange
    const older = valueBefore(chain.slice(touched))
    const isSetBySelected = (last.deleted ? chain[0]?.deleted : chain[0]?.inserted) !== null
    if (!isSetBySelected) {
      // An entry of the earlier version stays if changes have lost against it.
      const isUnchanged = this.#reader.of(last).at(-1)?.state === 'unchanged' && !last.deleted
      if (!isUnchanged && !this.#isUndone(last.deleted ? null : last, older))
        this.#selected.report(cause, 'changed-since')
      if (content instanceof Y.ContentType && !last.deleted) this.#type(content.type)
      return
    }
    if (older?.item.content instanceof Y.ContentDeleted) return this.#selected.report(cause, 'content-lost')
    if (older === null && last.deleted) return
    if (last.deleted || this.#canDelete(last, cause)) this.entries.push({ type, key, value: older })
  }

  /**
   * Returns the values of an entry, from the newest one. Values that one change set has inserted and deleted are
   * left out, except for the value with which a selected change has inserted the element of an attribute. This value
   * is part of the element: it counts as an older value, so it stays if the element stays. It is the last one.
   */
  #chainOf(type: SharedRoot, last: Y.Item): readonly ChainedValue[] {
    const segments: Segment[] = []
    for (let item: Y.Item | null = last; item !== null; item = item.left)
      segments.push(...this.#reader.of(item).toReversed())
    const [element = null] =
      this.#inElements.has(type) && type._item !== null ? this.#reader.of(type._item) : []
    const cause = element === null ? null : this.#insertedIn(element)
    const own =
      element === null || cause === null
        ? undefined
        : segments.findLast((segment) => this.#isInsertedWith(element, segment))
    const chain: ChainedValue[] = []
    for (const segment of segments) {
      const { item, offset, length } = segment
      const isPassing = item.deleted && this.#selected.isPassing(segment)
      const deleted = this.#deletedIn(segment)
      if (!isPassing && (segment !== own || length > 1))
        chain.push({ item, offset: offset + length - 1, inserted: this.#insertedIn(segment), deleted })
      if (segment !== own) continue
      chain.push({ item, offset, inserted: null, deleted: isPassing ? cause : deleted })
      break
    }
    return chain
  }

  /** Returns whether a value of an attribute was inserted together with the element, and not overwritten at once. */
  #isInsertedWith(element: Segment, value: Segment): boolean {
    const { state, inserter, deleter } = value
    if (state !== 'inserted' && state !== 'transient') return false
    // Yjs discards a value that the same transaction has overwritten.
    if (value.item.content instanceof Y.ContentDeleted && deleter === inserter) return false
    return this.#reader.isOneInsertion(element, value)
  }

  /** Returns whether an entry already has the older value. */
  #isUndone(live: Y.Item | null, older: EntryValue | null): boolean {
    if (live === null || older === null) return live === older
    const [a, b] = [live.content, older.item.content]
    if (!(a instanceof Y.ContentType) || !(b instanceof Y.ContentType))
      return isDeepStrictEqual(valuesOf(a).at(-1), valuesOf(b)[older.offset])
    return this.#isOfUndo(live.id) && nameOfType(a.type) === nameOfType(b.type)
  }

  #insertedIn = ({ item: { id }, offset }: Segment): SelectedRange | null =>
    this.#selected.inserted.at(id.client, id.clock + offset).range

  #deletedIn = ({ item: { id }, offset }: Segment): SelectedRange | null =>
    this.#selected.deleted.at(id.client, id.clock + offset).range
}

/** A value in the history of an entry, and the selected changes that have inserted and deleted it. */
interface ChainedValue extends EntryValue {
  readonly inserted: SelectedRange | null
  readonly deleted: SelectedRange | null
}

/**
 * Returns the value that the entry had before the selected changes; null if there was none.
 * @param chain the newest value that a selected change has inserted or deleted, and the older ones
 */
function valueBefore(chain: readonly ChainedValue[]): EntryValue | null {
  const older = chain.find(({ inserted }) => inserted === null)
  return older === undefined || (older.item.deleted && older.deleted === null) ? null : older
}

/** Returns all items of a type: the values of its entries, including older ones, and its sequence. */
function* itemsOf({ _map, _start }: SharedRoot): Generator<Y.Item> {
  for (const last of _map.values())
    for (let item: Y.Item | null = last; item !== null; item = item.left) yield item
  for (let item = _start; item !== null; item = item.right) yield item
}
