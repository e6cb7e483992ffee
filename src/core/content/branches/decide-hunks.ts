import * as Y from 'yjs'
import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import { copyContent } from '../copies/copy-content.ts'
import type { Segment, SegmentReader } from '../history/segments.ts'
import { type HistoryVersion, isIn } from '../history/version-values.ts'
import { rootNames } from '../roots.ts'
import { deleteIds, itemIn } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import { BranchComparison, type BranchHunk } from './branch-hunks.ts'

/**
 * A decision on hunks of a branch. `accept` changes the main editor, and `reject` the branch. `other` is the whole
 * state (V1) of the other one.
 */
export interface HunkDecision {
  readonly is: 'accept' | 'reject'
  readonly other: Uint8Array
  readonly hunkIds: readonly string[]
  /** The client id of the change. The document must not have this client yet. Absent: any client id. */
  readonly client?: number | undefined
}

/** The hunks of a decision, by its effect on them. */
export interface DecidedHunks {
  /** The decided hunks, in the order of the document. */
  readonly decided: readonly HunkReference[]
  /** Ids for which the branch has no hunk: it was decided before, or it has never existed. */
  readonly unknown: readonly string[]
  /** Hunks that were left out, because other hunks must be decided together with them. */
  readonly dependent: readonly DependentHunk[]
}

interface DependentHunk {
  readonly hunkId: string
  /** The hunks that must be decided together with it. */
  readonly needs: readonly string[]
}

interface HunkReference {
  readonly hunkId: string
  /** See `HunkRanges`. */
  readonly replaceable: readonly IdRange[]
}

/** The result of a decision, as the result of a replacement. */
type HunkResult = RootReplacement & { readonly hunks: DecidedHunks }

/**
 * Makes a decision on hunks, in one transaction.
 * @param doc the document that changes; @param state its whole state (V1)
 */
export function decideHunks(doc: Y.Doc, state: Uint8Array, { is, other, hunkIds }: HunkDecision): HunkResult {
  const [main, branch] = is === 'accept' ? [state, other] : [other, state]
  const comparison = new BranchComparison(main, branch)
  try {
    const { chosen, ...left } = choose(comparison.hunks, is, new Set(hunkIds))
    const inserted = chosen.flatMap(({ ranges }) => ranges.inserted)
    const deleted = chosen.flatMap(({ ranges }) => ranges.deleted)
    const [copied, removed] = is === 'accept' ? [inserted, deleted] : [deleted, inserted]
    const version = is === 'accept' ? 'to' : 'from'
    const content = { reader: comparison.reader, version, copied, deleted: removed } as const
    if (chosen.length > 0) doc.transact((transaction) => new Transplant(transaction, content).run())
    return {
      changed: chosen.length > 0,
      insertions: lengthOf(copied),
      deletions: lengthOf(removed),
      hunks: { decided: chosen.map(toDecided), ...left },
    }
  } finally {
    comparison.destroy()
  }
}

interface HunkChoice extends Omit<DecidedHunks, 'decided'> {
  readonly chosen: readonly BranchHunk[]
}

/** Selects hunks. A hunk is left out if it needs another hunk that is not selected. */
function choose(
  hunks: readonly BranchHunk[],
  is: HunkDecision['is'],
  wanted: ReadonlySet<string>,
): HunkChoice {
  const present = new Set(hunks.map(({ hunkId }) => hunkId))
  const selected = hunks.filter(({ hunkId }) => wanted.has(hunkId))
  const needs = (hunk: BranchHunk): readonly string[] =>
    (is === 'accept' ? hunk.dependsOn : dependentsOf(hunk, hunks)).filter((id) => !wanted.has(id))
  return {
    chosen: selected.filter((hunk) => needs(hunk).length === 0),
    unknown: [...wanted].filter((id) => !present.has(id)),
    dependent: selected.flatMap((hunk) => {
      const missing = needs(hunk)
      return missing.length === 0 ? [] : [{ hunkId: hunk.hunkId, needs: missing }]
    }),
  }
}

const dependentsOf = ({ hunkId }: BranchHunk, hunks: readonly BranchHunk[]): readonly string[] =>
  hunks.filter(({ dependsOn }) => dependsOn.includes(hunkId)).map((other) => other.hunkId)

const toDecided = ({ hunkId, ranges }: BranchHunk): HunkReference => ({
  hunkId,
  replaceable: ranges.replaceable,
})

const lengthOf = (ranges: readonly IdRange[]): number => ranges.reduce((sum, { length }) => sum + length, 0)

/** Content to copy from a comparison into a document that has a part of its items. */
interface TransplantedContent {
  readonly reader: SegmentReader
  /** The version of the comparison that has the content. */
  readonly version: HistoryVersion
  /** Ids in the comparison that are copied. */
  readonly copied: readonly IdRange[]
  /** Ids of the document that are deleted. */
  readonly deleted: readonly IdRange[]
}

/**
 * Copies content to the place that it has in the comparison: behind the nearest item to its left that the
 * document has. Then deletes ids. Takes linear time. Content in a value that the document has deleted is left out.
 */
class Transplant {
  readonly #transaction: Y.Transaction
  readonly #reader: SegmentReader
  readonly #version: HistoryVersion
  readonly #copied: RangeIndex<IdRange>
  readonly #deleted: readonly IdRange[]

  constructor(transaction: Y.Transaction, { reader, version, copied, deleted }: TransplantedContent) {
    this.#transaction = transaction
    this.#reader = reader
    this.#version = version
    this.#copied = RangeIndex.of(copied)
    this.#deleted = deleted
  }

  run(): void {
    const source = this.#reader.history.doc
    const { doc } = this.#transaction
    for (const name of rootNames(source))
      this.#type(source.share.get(name) as SharedRoot, doc.share.get(name) ?? doc.get(name))
    for (const range of this.#deleted) deleteIds(this.#transaction, range)
  }

  #type(source: SharedRoot, target: SharedRoot): void {
    for (const [key, last] of source._map) this.#entry(target, key, last)
    if (target._searchMarker !== null) target._searchMarker.length = 0
    let left: Y.Item | null = null
    for (let item = source._start; item !== null; item = item.right)
      for (const segment of this.#reader.of(item)) {
        const { offset, length } = segment
        const end = this.#itemAt(item.id.client, item.id.clock + offset + length - 1)
        if (end !== null) {
          left = end
          this.#nested(item, end)
        }
        if (!this.#copied.has(item.id.client, item.id.clock + offset)) continue
        const right: Y.Item | null = left === null ? target._start : left.right
        left = this.#put({ type: target, key: null, left, right }, item, offset, length)
      }
  }

  /** Copies into a value that both documents have. */
  #nested({ content }: Y.Item, target: Y.Item): void {
    if (content instanceof Y.ContentType && target.content instanceof Y.ContentType && !target.deleted)
      this.#type(content.type, target.content.type)
  }

  #entry(target: SharedRoot, key: string, last: Y.Item): void {
    for (let item: Y.Item | null = last; item !== null; item = item.left) {
      if (!this.#copied.has(item.id.client, item.id.clock + item.length - 1)) continue
      const left = target._map.get(key) ?? null
      this.#put({ type: target, key, left, right: null }, item, item.length - 1, 1)
      return
    }
    for (let item: Y.Item | null = last; item !== null; item = item.left) {
      const there = this.#itemAt(item.id.client, item.id.clock + item.length - 1)
      if (there !== null) return this.#nested(item, there)
    }
  }

  /** The copy of a value gets the content that the value has in the version. */
  #put(place: Parameters<typeof copyContent>[1], item: Y.Item, offset: number, length: number): Y.Item {
    const partsOf = (inside: Y.Item): readonly Segment[] =>
      this.#reader.of(inside).filter(({ state }) => isIn(this.#version, state))
    return copyContent(this.#transaction, place, item.content, { offset, length }, partsOf)
  }

  /** Returns the item of the document that ends with an id; null if the document does not have the item. */
  #itemAt(client: number, clock: number): Y.Item | null {
    const { doc } = this.#transaction
    if (itemIn(doc, { client, clock }) === null) return null
    return Y.getItemCleanEnd(this.#transaction, doc.store, Y.createID(client, clock))
  }
}
