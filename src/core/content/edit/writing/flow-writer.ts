import * as Y from 'yjs'
import { memoized } from '../../../base/maps.ts'
import { firstIndex } from '../../../base/search.ts'
import { type Hunk, shifted } from '../../diff/diff.ts'
import { planEdits, stepsMax } from '../../text/plan.ts'
import type { AttributeRun, Embed, PlainTextState } from '../../text/text-state.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  blockAt,
  type FlowPiece,
  type FlowView,
  piecesIn,
  type TextFlow,
  type TextFlowPiece,
  type TextRange,
  type TextSource,
  textIn,
} from '../targets/flow-view.ts'
import {
  type Marking,
  markingOperations,
  sliceState,
  type WrittenCounts,
  writeHunks,
  writeOperations,
} from './source-edits.ts'

/** The changes of one flow, before anything is written. */
interface FlowChange {
  readonly inserted: string
  /** Edits of each shared text, in its own offsets. */
  readonly hunks: Map<TextSource, Hunk[]>
  readonly deleted: Y.Item[]
  /** Texts to create: each after an item, or at the start of the block. */
  readonly created: { readonly after: Y.Item | null; readonly text: string }[]
}

/** Writes changes of flows to the shared texts that contain them. */
export class FlowWriter<View extends FlowView = FlowView> {
  insertions = 0
  deletions = 0
  changed = false
  readonly #transaction: Y.Transaction
  protected readonly view: View

  constructor(transaction: Y.Transaction, view: View) {
    this.#transaction = transaction
    this.view = view
  }

  /** Changes the text of a range to `text` with small edits. Text that both have in common stays. */
  replace(range: TextRange, text: string): void {
    const hunks = replacementHunks(this.view, range, text)
    if (hunks.length > 0) this.write(range.flow, text, hunks)
  }

  insert(flow: number, offset: number, text: string): void {
    if (text === '') return
    this.write(flow, text, [{ aStart: offset, aEnd: offset, bStart: 0, bEnd: text.length }])
  }

  /** @param skipsBreaks as for `markingOperations` */
  mark(range: TextRange, markingsOf: (source: TextSource) => readonly Marking[], skipsBreaks = false): void {
    const marked = new Map<SharedRoot, { readonly source: TextSource; readonly ranges: [number, number][] }>()
    for (const [piece, from, to] of piecesIn(this.view, range)) {
      if (piece.source === null) continue
      const { source } = piece
      const ranges: [number, number][] = marked.get(source.type)?.ranges ?? []
      ranges.push([piece.from + from, piece.from + to])
      marked.set(source.type, { source, ranges })
    }
    for (const { source, ranges } of marked.values()) {
      const operations = markingOperations(source.state, ranges, markingsOf(source), skipsBreaks)
      if (operations.length === 0) continue
      writeOperations(source.type, operations)
      this.changed = true
    }
  }

  protected write(flow: number, inserted: string, hunks: readonly Hunk[]): void {
    const { pieces } = this.view.flows[flow] as TextFlow
    const change: FlowChange = { inserted, hunks: new Map(), deleted: [], created: [] }
    for (const hunk of hunks) addHunk(change, pieces, hunk)
    for (const [source, own] of change.hunks) this.#count(writeHunks(source, inserted, own))
    for (const item of change.deleted) {
      this.#count({ insertions: 0, deletions: 1 })
      item.delete(this.#transaction)
    }
    for (const { after, text } of change.created) {
      const parent = after?.parent ?? this.view.blocks[blockAt(this.view, flow, 0)]?.type
      if (!(parent instanceof Y.AbstractType)) continue
      Y.XmlFragment.prototype.insertAfter.call(parent, after, [new Y.XmlText(text)])
      this.#count({ insertions: text.length, deletions: 0 })
    }
  }

  #count({ insertions, deletions }: WrittenCounts): void {
    this.insertions += insertions
    this.deletions += deletions
    this.changed = true
  }
}

/**
 * Returns the small edits that change the text of a range to `text`, in offsets of the flow. Returns an empty
 * array if the range already has this text.
 */
function replacementHunks(view: FlowView, range: TextRange, text: string): Hunk[] {
  const { start } = range
  const state = stateOf(view, range)
  if (state.text === text) return []
  return planEdits(state, text, { steps: stepsMax }).map((hunk) => shifted(hunk, start, 0))
}

/** Returns the part of a flow as the state of one text. Each inline element is a run of its own. */
function stateOf(view: FlowView, range: TextRange): PlainTextState {
  const runs: AttributeRun[] = []
  const embeds: Embed[] = []
  let items = 0
  for (const [piece, from, to] of piecesIn(view, range)) {
    const start = piece.start + from - range.start
    if (piece.source === null) {
      runs.push({ start, changes: [], size: 0 })
      continue
    }
    const { state } = piece.source
    const part = sliceState(state, piece.from + from, piece.from + to)
    items += state.items
    for (const run of part.runs) runs.push({ ...run, start: run.start + start })
    for (const embed of part.embeds) embeds.push({ ...embed, at: embed.at + start })
  }
  return { text: textIn(view, range), runs, embeds, items }
}

/** Adds the changes of each piece for one edit of a flow. */
function addHunk(change: FlowChange, pieces: readonly FlowPiece[], hunk: Hunk): void {
  const { aStart, aEnd, bStart, bEnd } = hunk
  let pending = bEnd > bStart
  for (let index = firstPieceAt(pieces, aStart); index < pieces.length; index++) {
    const piece = pieces[index] as FlowPiece
    if (piece.start >= aEnd) break
    const from = Math.max(aStart, piece.start)
    const to = Math.min(aEnd, piece.start + piece.length)
    if (from >= to) continue
    if (piece.source === null) {
      if (!piece.isKept) change.deleted.push(piece.item)
      continue
    }
    const shift = piece.from - piece.start
    const own = { aStart: from + shift, aEnd: to + shift, bStart, bEnd: pending ? bEnd : bStart }
    hunksOf(change, piece.source).push(own)
    pending = false
  }
  if (pending) addInsertion(change, pieces, hunk)
}

/** Adds an insertion that replaces no characters: to the text before it or after it, or as a new text. */
function addInsertion(
  change: FlowChange,
  pieces: readonly FlowPiece[],
  { aStart, aEnd, bStart, bEnd }: Hunk,
): void {
  const near = firstPieceAt(pieces, aStart)
  const left = textFrom(pieces, near, aStart)
  const last = textFrom(pieces, firstPieceAt(pieces, aEnd), aEnd)
  const right = last?.start === aEnd ? last : undefined
  const piece = left ?? right
  if (piece !== undefined) {
    const at = (piece === left ? aStart : aEnd) - piece.start + piece.from
    hunksOf(change, piece.source).push({ aStart: at, aEnd: at, bStart, bEnd })
    return
  }
  let next = near
  while (next < pieces.length && endOf(pieces[next] as FlowPiece) <= aStart) next += 1
  const before = pieces[next - 1]
  const after = before === undefined ? null : before.source === null ? before.item : before.source.type._item
  change.created.push({ after, text: change.inserted.slice(bStart, bEnd) })
}

const endOf = ({ start, length }: FlowPiece): number => start + length

/** Returns the index of the first piece that ends at an offset or after it. */
export const firstPieceAt = (pieces: readonly FlowPiece[], offset: number): number =>
  firstIndex(pieces.length, (index) => endOf(pieces[index] as FlowPiece) >= offset)

/** Returns the first piece of text, from an index on, that starts at an offset or before it. */
function textFrom(pieces: readonly FlowPiece[], from: number, offset: number): TextFlowPiece | undefined {
  for (let index = from; index < pieces.length; index++) {
    const piece = pieces[index] as FlowPiece
    if (piece.start > offset) return undefined
    if (piece.source !== null) return piece
  }
  return undefined
}

function hunksOf({ hunks }: FlowChange, source: TextSource): Hunk[] {
  return memoized(hunks, source, () => [])
}
