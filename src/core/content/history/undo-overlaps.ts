import * as Y from 'yjs'
import type { ChangeOrigin } from '../../model/change-origin.ts'
import { sameTimeMs } from '../../update/attribution/attribution-builder.ts'
import { disjoint, type IdRange, RangeIndex, withoutIds } from '../../update/range-index.ts'
import { type LabeledPart, type ShownUnit, TextUnits } from '../merge/labeled-units.ts'
import { showUnit } from '../merge/merged-sequence.ts'
import type { MergeSide, Overlap } from '../merge/overlap.ts'
import {
  clustersIn,
  deletedOfTheirs,
  elementUnit,
  inBase,
  inMine,
  inTheirs,
  restoredByMine,
} from '../merge/sequence-clusters.ts'
import { ContentPaths, presentParts } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { formOfItem } from '../yjs/sequence-content.ts'
import type { RestoredCopies } from './restored-copies.ts'
import type { SegmentReader } from './segments.ts'
import { UndoOrder } from './undo-order.ts'
import type { PlannedCopy, UndoPlan } from './undo-plan.ts'
import type { SelectedIds } from './undo-selection.ts'
import { charactersIn, isIn } from './version-values.ts'

const everywhere = inBase | inTheirs | inMine

/** The operations of an undo on sequences. */
export interface DecidedUndo {
  readonly copies: readonly PlannedCopy[]
  readonly deletions: readonly IdRange[]
  readonly overlaps: readonly Overlap[]
}

/**
 * Decides on the words that the undone changes and other changes have both changed, so that no word of the result
 * consists of parts of both. For an overlap, `base` is the word with the undone changes only, `theirs` the present word,
 * and `mine` the word without the undone changes. All three have the earlier changes of others.
 */
export class UndoOverlaps {
  readonly #reader: SegmentReader
  readonly #selected: SelectedIds
  readonly #restored: RestoredCopies
  readonly #copies: RangeIndex<IdRange>
  readonly #deletions: RangeIndex<IdRange>
  readonly #plan: UndoPlan
  readonly #order: UndoOrder

  constructor(reader: SegmentReader, selected: SelectedIds, restored: RestoredCopies, plan: UndoPlan) {
    this.#reader = reader
    this.#selected = selected
    this.#restored = restored
    this.#plan = plan
    this.#copies = RangeIndex.of(disjoint(plan.copies))
    this.#deletions = RangeIndex.of(disjoint(plan.deletions))
    this.#order = new UndoOrder(reader, selected)
  }

  decide(wanted: MergeSide): DecidedUndo {
    const [overlaps, stays, deleted]: [Overlap[], IdRange[], IdRange[]] = [[], [], []]
    const copies: PlannedCopy[] = []
    const paths = new ContentPaths()
    const { doc } = this.#reader.history
    for (const type of this.#changedSequences()) {
      const units = new UndoUnits(this.#partsOf(type), doc, this.#selected)
      const options = { kept: wanted, repeatsInsertions: true, areWordsSeparate: true }
      for (const { indexes, isSame } of clustersIn(units, options)) {
        // If others have changed the elements before and since, no version lacks only the undone changes.
        const kept = units.hasElement(indexes, restoredByMine) ? 'theirs' : wanted
        if (!isSame) overlaps.push({ path: paths.of(type), ...units.shown(indexes), kept })
        if (isSame || kept === 'theirs') {
          const ranges = units.ranges(indexes)
          for (const range of ranges) stays.push(range)
          // A single unit is a space that stays, or a character of others that is not restored.
          if (!isSame || indexes.length === 1) this.#report(ranges)
        } else {
          this.#plan.texts.add(type)
          for (const range of units.having(indexes, inTheirs, inMine)) deleted.push(range)
          for (const range of units.having(indexes, restoredByMine)) stays.push(range)
          for (const range of units.having(indexes, inBase | inMine, inTheirs))
            for (const part of this.#byItem(range)) copies.push({ type, ...part, isTransient: false })
        }
      }
    }
    const { copies: planned, deletions } = this.#plan
    return {
      overlaps,
      copies: withoutIds([...planned, ...copies], stays),
      deletions: withoutIds([...deletions, ...deleted], stays),
    }
  }

  /** Divides a range by the items that contain it. */
  *#byItem({ client, clock, length }: IdRange): Generator<IdRange> {
    const { store } = this.#reader.history.doc
    for (let at = clock, end = clock + length; at < end; ) {
      const item = Y.getItem(store, Y.createID(client, at))
      const next = Math.min(end, item.id.clock + item.length)
      yield { client, clock: at, length: next - at }
      at = next
    }
  }

  /** Returns the sequences in which the undo restores content or deletes text. */
  #changedSequences(): ReadonlySet<SharedRoot> {
    const { store } = this.#reader.history.doc
    const types = new Set(this.#plan.copies.map(({ type }) => type))
    for (const { client, clock } of this.#plan.deletions) {
      const { content, parent } = Y.getItem(store, Y.createID(client, clock))
      if (content instanceof Y.ContentString && parent instanceof Y.AbstractType) types.add(parent)
    }
    return types
  }

  *#partsOf(type: SharedRoot): Generator<LabeledPart> {
    for (let item = type._start; item !== null; item = item.right) {
      if (!item.countable) continue
      const { client, clock } = item.id
      for (let at = clock, end = clock + item.length; at < end; ) {
        const { bits, end: next } = this.#bitsOf(item, at)
        const until = Math.min(end, next)
        if (bits !== 0) yield { client, clock: at, text: textOf(item, at - clock, until - at), bits }
        at = until
      }
    }
  }

  /** Returns the versions that have an id of an item, and the end of the ids with the same answer. */
  #bitsOf(item: Y.Item, clock: number): { readonly bits: number; readonly end: number } {
    const { client } = item.id
    const { state, end: stateEnd } = this.#reader.history.stateAt(client, clock)
    const [copy, deletion] = [this.#copies.at(client, clock), this.#deletions.at(client, clock)]
    const selected = this.#selected.inserted.at(client, clock)
    const undone = this.#selected.deleted.at(client, clock)
    const inserted = this.#reader.insertionAt(client, clock)
    const deleted = this.#reader.deletionAt(client, clock)
    const restored = this.#restored.at(client, clock)
    const insertion = this.#order.ofInsertion(client, clock)
    const removal = this.#order.ofDeletion(client, clock)
    const found = [copy, deletion, selected, undone, inserted, deleted, restored, insertion, removal]
    const answer = (bits: number) => ({ bits, end: Math.min(stateEnd, ...found.map(({ end }) => end)) })
    const isOwn = selected.range !== null
    const isOthers =
      !isOwn &&
      !isIn('from', state) &&
      this.#isOfOthers(inserted.range?.origin ?? null, state === 'later', insertion.order)
    if (!item.deleted) {
      if (deletion.range !== null) return answer(inBase | inTheirs)
      return answer(isOthers ? inTheirs : everywhere)
    }
    if (copy.range !== null) return answer(isOthers ? restoredByMine : inMine)
    if (restored.copy !== null || state === 'past') return answer(0)
    if (isOthers) return answer(deletedOfTheirs)
    const isAfter = isIn('to', state)
    const isKept =
      undone.range === null && this.#isOfOthers(deleted.range?.origin ?? null, isAfter, removal.order)
    if (!isKept) return answer(0)
    return answer(isOwn ? inBase : inBase | inMine)
  }

  /**
   * Returns whether a change is not undone, and can be later than one that is. Undos are not changes of their own.
   * @param isAfter true if the change is later than both versions
   * @param order see `UndoOrder`
   */
  #isOfOthers(origin: ChangeOrigin | null, isAfter: boolean, order: number): boolean {
    if (!isAfter && (order < 0 || this.#selected.includes(origin))) return false
    if (origin === null) return true
    return origin.source !== 'undo' && (order > 0 || origin.at + sameTimeMs >= this.#selected.firstAt)
  }

  /** Reports that changes stay, because they are parts of overlaps. */
  #report(ranges: readonly IdRange[]): void {
    for (const ids of ranges)
      for (const index of [this.#selected.inserted, this.#selected.deleted])
        for (const { range } of index.parts(ids)) if (range !== null) this.#selected.report(range, 'overlap')
  }
}

const textOf = (item: Y.Item, offset: number, length: number): string =>
  charactersIn(item, offset, length) || elementUnit.repeat(length)

/** The units of a sequence with the versions of an undo. A deleted shared type is shown without its content. */
class UndoUnits extends TextUnits {
  readonly #store: Y.Doc['store']
  readonly #selected: SelectedIds

  constructor(parts: Iterable<LabeledPart>, { store }: Y.Doc, selected: SelectedIds) {
    super(parts)
    this.#store = store
    this.#selected = selected
  }

  hasElement(indexes: readonly number[], bits: number): boolean {
    return indexes.some((at) => this.bits[at] === bits && this.text[at] === elementUnit)
  }

  override formOf(index: number): string {
    const item = this.#itemAt(index)
    const part = { offset: this.idAt(index).clock - item.id.clock, length: 1 }
    return formOfItem(item, part, item.deleted ? this.#selected.returnedWith(item) : presentParts)
  }

  protected override showElement(index: number): ShownUnit {
    return showUnit(this.#itemAt(index), this.idAt(index))
  }

  #itemAt(index: number): Y.Item {
    const { client, clock } = this.idAt(index)
    return Y.getItem(this.#store, Y.createID(client, clock))
  }
}
