import * as Y from 'yjs'
import type { Attribution } from '../../update/attribution/attribution.ts'
import { copyContent } from '../copies/copy-content.ts'
import { keptSide, type OverlapPolicy, type OverlapReport, overlapError, reportOf } from '../merge/overlap.ts'
import { deleteIds, type ItemRange } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { DocumentHistory } from './document-history.ts'
import { RestoredCopies } from './restored-copies.ts'
import { SegmentReader } from './segments.ts'
import { UndoFormatting } from './undo-formatting.ts'
import { type DecidedUndo, UndoOverlaps } from './undo-overlaps.ts'
import { type PlannedCopy, UndoPlan } from './undo-plan.ts'
import { type NotUndone, SelectedIds, type UndoSelection } from './undo-selection.ts'
import type { EntryValue } from './version-values.ts'

export interface UndoResult extends Partial<OverlapReport> {
  /** The update (V1) for the current document; null if nothing changes. */
  readonly update: Uint8Array | null
  /** Number of hunks that were undone completely, or that earlier undos have already undone. */
  readonly undone: number
  readonly notUndone: readonly NotUndone[]
  /** If no change meets the conditions, the users whose changes are between the versions, at most 10; else null. */
  readonly otherAuthors: readonly string[] | null
}

/**
 * Undoes changes by a forward edit: deletes the content that they have inserted, inserts copies of the content that
 * they have deleted at the old place, and gives entries and formats their older values. Content of other changes
 * stays. A word that other changes have also changed is an overlap: `onOverlap` decides whether it stays, or gets the
 * text that it had before the undone changes.
 *
 * The undo is made in the Y.Doc of the history, which must contain the current document, and must not be used
 * afterwards.
 * @throws ApiError ABORTED if there are overlaps and `onOverlap` is `fail`; nothing is changed then
 * @param attribution the attribution of the whole current document
 */
export function undoChanges(
  history: DocumentHistory,
  attribution: Attribution,
  selection: UndoSelection,
  onOverlap: OverlapPolicy,
): UndoResult {
  const { doc } = history
  const reader = new SegmentReader(history, attribution)
  const selected = new SelectedIds(reader, selection)
  const restored = new RestoredCopies(doc, attribution, selected)
  const plan = new UndoPlan(reader, selected, restored)
  const decided = new UndoOverlaps(reader, selected, restored, plan).decide(keptSide(onOverlap, false))
  const report = decided.overlaps.length === 0 ? null : reportOf(decided.overlaps)
  if (onOverlap === 'fail' && report !== null) throw overlapError(report)
  let update: Uint8Array | null = null
  const listen = (bytes: Uint8Array): void => {
    update = bytes
  }
  doc.on('update', listen)
  doc.transact((transaction) => new UndoRun(transaction, reader, selected).run(plan, decided))
  doc.off('update', listen)
  const { undone, notUndone, otherAuthors } = selected
  return { update, undone, notUndone, otherAuthors, ...report }
}

/** Writes the operations of a plan. */
class UndoRun {
  readonly #transaction: Y.Transaction
  readonly #reader: SegmentReader
  readonly #selected: SelectedIds

  constructor(transaction: Y.Transaction, reader: SegmentReader, selected: SelectedIds) {
    this.#transaction = transaction
    this.#reader = reader
    this.#selected = selected
  }

  run({ entries, texts }: UndoPlan, { copies, deletions }: DecidedUndo): void {
    const { doc } = this.#transaction
    const firstClock = Y.getState(doc.store, doc.clientID)
    const transient = new Set<number>()
    for (const copy of copies) {
      const item = this.#copy(copy)
      if (copy.isTransient) transient.add(item.id.clock)
    }
    for (const range of deletions) deleteIds(this.#transaction, range)
    for (const { type, key, value } of entries) this.#setEntry(type, key, value)
    const own = { client: doc.clientID, firstClock, transient }
    for (const type of texts) {
      if (type._item?.deleted === true) continue
      const operations = new UndoFormatting(this.#reader, this.#selected, own).operations(type)
      if (type._searchMarker !== null) type._searchMarker.length = 0
      if (operations !== null) Y.Text.prototype.applyDelta.call(type, [...operations])
    }
  }

  #copy({ type, client, clock, length }: PlannedCopy): Y.Item {
    const right = Y.getItemCleanStart(this.#transaction, Y.createID(client, clock))
    return this.#put({ type, key: null, left: right.left, right }, right, { offset: 0, length })
  }

  #put(place: Parameters<typeof copyContent>[1], item: Y.Item, part: ItemRange): Y.Item {
    return copyContent(this.#transaction, place, item.content, part, this.#selected.returnedWith(item))
  }

  #setEntry(type: SharedRoot, key: string, value: EntryValue | null): void {
    if (value === null) type._map.get(key)?.delete(this.#transaction)
    else {
      const place = { type, key, left: type._map.get(key) ?? null, right: null }
      this.#put(place, value.item, { offset: value.offset, length: 1 })
    }
  }
}
