import { createHash } from 'node:crypto'
import * as Y from 'yjs'
import { type Attribution, noAttribution } from '../../update/attribution/attribution.ts'
import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import { groupChanges } from '../history/change-groups.ts'
import { HunkWalk } from '../history/change-sets.ts'
import { DocumentHistory } from '../history/document-history.ts'
import type { ChangedSide, ChangeHunk } from '../history/hunk.ts'
import { rangeOfSegment, type Segment, SegmentReader } from '../history/segments.ts'
import { isIn } from '../history/version-values.ts'
import { rootNames } from '../roots.ts'
import { itemIn } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { formOfItem } from '../yjs/sequence-content.ts'
import { type HunkPlace, HunkPlaceFinder } from './hunk-place.ts'

/** Maximum numbers of a comparison. */
export const hunkLimits = {
  /** Maximum number of hunks of a branch that calls list and decide. */
  hunks: 1_000,
  /** Approximate maximum characters of each text of a hunk. */
  characters: 1_000,
} as const

/** A difference between a branch and its main editor, without unchanged content in it. */
export interface BranchHunk extends ChangeHunk {
  readonly anchor: ChangeHunk['anchor'] & HunkPlace
  /** Stays the same while the start of the hunk stays, also if other hunks are decided. */
  readonly hunkId: string
  readonly ranges: HunkRanges
  /** Ids of the hunks that contain this one, and without which it cannot be accepted. */
  readonly dependsOn: readonly string[]
}

/** The ids that a hunk has inserted in the branch, and those of the main editor that it has deleted. */
interface HunkRanges {
  readonly inserted: readonly IdRange[]
  readonly deleted: readonly IdRange[]
  /**
   * The inserted ids of sequences, without the content of inserted values. The branch deletes them when the main
   * editor has a copy of the content. It keeps the entries of maps: an entry and its copy have the same key, so
   * only one of them is visible.
   */
  readonly replaceable: readonly IdRange[]
}

export interface HunkAuthor {
  readonly userId: string
  /** Time of the last known change, in epoch milliseconds. */
  readonly at: number
}

export interface ComparedBranch {
  /** In the order of the document. */
  readonly hunks: readonly BranchHunk[]
  /** True if hunks were left out, because there are too many. */
  readonly truncated: boolean
}

/** Returns the hunks of a branch. @param main @param branch whole states (V1) */
export function compareBranch(main: Uint8Array, branch: Uint8Array): ComparedBranch {
  const comparison = new BranchComparison(main, branch)
  comparison.destroy()
  const { hunks, truncated } = comparison
  return { hunks, truncated }
}

/**
 * Compares a branch with its main editor. The branch must contain the whole main editor. Takes linear time.
 * Call `destroy` after use.
 */
export class BranchComparison implements ComparedBranch {
  readonly history: DocumentHistory
  readonly reader: SegmentReader
  /** In the order of the document. */
  readonly hunks: readonly BranchHunk[]
  /** True if hunks were left out, because there are too many. */
  readonly truncated: boolean

  /** @param main @param branch whole states (V1) */
  constructor(main: Uint8Array, branch: Uint8Array) {
    this.history = new DocumentHistory({ from: [main], to: [branch] })
    // All changes have the same unknown origin, so that adjacent changes of different users are one hunk.
    this.reader = new SegmentReader(this.history, noAttribution)
    const grouped = groupChanges(this.reader)
    const parts = new Map<number, HunkSegments>()
    const replaced = replacedMarks(this.reader)
    const listen = (_: unknown, hunk: number, side: ChangedSide, segment: Segment): void => {
      if (replaced.has(segment.item.id.client, segment.item.id.clock + segment.offset)) return
      const found = parts.get(hunk) ?? { inserted: [], deleted: [], first: segment, last: segment }
      found[side].push(segment)
      found.last = segment
      parts.set(hunk, found)
    }
    const limits = { hunksMax: hunkLimits.hunks, charactersMax: hunkLimits.characters }
    const [group] = grouped.groups
    const walk = new HunkWalk(this.reader, grouped, new Set(grouped.groups), limits, listen)
    walk.run()
    const { hunks, isCut } = group === undefined ? noHunks : walk.hunksOf(group)
    this.truncated = isCut
    const places = new HunkPlaceFinder(this.reader)
    const found = hunks.flatMap((hunk, number) => this.#hunkOf(hunk, parts.get(number), places) ?? [])
    this.hunks = withDependencies(this.history.doc, found)
  }

  destroy(): void {
    this.history.destroy()
  }

  /** Returns null if the hunk has inserted exactly the content that it has deleted, as a rejection does. */
  #hunkOf(
    hunk: ChangeHunk,
    parts: HunkSegments | undefined,
    places: HunkPlaceFinder,
  ): Omit<BranchHunk, 'dependsOn'> | null {
    if (parts === undefined) return null
    const { inserted, deleted, first, last } = parts
    // A hunk with formatting contains unchanged text between its marks.
    const isPair = inserted.length > 0 && deleted.length > 0 && hunk.formatting.length === 0
    if (isPair && this.#textOf('to', inserted) === this.#textOf('from', deleted)) return null
    const ranges = {
      inserted: inserted.map(rangeOfSegment),
      deleted: deleted.map(rangeOfSegment),
      replaceable: outermost(inserted).flatMap((segment) =>
        segment.item.parentSub === null ? rangeOfSegment(segment) : [],
      ),
    }
    const anchor = { ...hunk.anchor, ...places.of(first, last) }
    return { ...hunk, anchor, hunkId: hunkIdOf(ranges), ranges }
  }

  #textOf(version: 'from' | 'to', segments: readonly Segment[]): string {
    const partsOf = (item: Y.Item): readonly Segment[] =>
      this.reader.of(item).filter(({ state }) => isIn(version, state))
    // The form of a value has the content of the value.
    return outermost(segments)
      .map((segment) => formOfItem(segment.item, segment, partsOf))
      .join('')
  }
}

interface HunkSegments {
  readonly inserted: Segment[]
  readonly deleted: Segment[]
  /** The outer segments, in the order of the document. */
  readonly first: Segment
  last: Segment
}

/** Returns the segments that are not in a value of another segment. */
function outermost(segments: readonly Segment[]): readonly Segment[] {
  const own = RangeIndex.of(segments.map(rangeOfSegment))
  return segments.filter(({ item }) => !isInside(item, own))
}

const noHunks = { hunks: [], isCut: false } as const

/** Returns whether the value that contains an item is in the ranges. */
function isInside(item: Y.Item, ranges: RangeIndex<IdRange>): boolean {
  const container = item.parent instanceof Y.AbstractType ? item.parent._item : null
  return container !== null && ranges.has(container.id.client, container.id.clock)
}

/** Number of characters of a hunk id: 96 bits of a hash. */
const idLength = 16

function hunkIdOf({ inserted, deleted }: Pick<HunkRanges, 'inserted' | 'deleted'>): string {
  const first = [inserted[0], deleted[0]].map((range) => range && [range.client, range.clock])
  return createHash('sha256').update(JSON.stringify(first)).digest('base64url').slice(0, idLength)
}

function withDependencies(
  doc: Y.Doc,
  hunks: readonly Omit<BranchHunk, 'dependsOn'>[],
): readonly BranchHunk[] {
  const owners = RangeIndex.of(
    hunks.flatMap(({ hunkId, ranges }) => ranges.inserted.map((range) => ({ ...range, hunkId }))),
  )
  return hunks.map((hunk) => {
    const containers = new Set<string>()
    for (const { client, clock } of hunk.ranges.inserted)
      for (
        let item = containerOf(doc, client, clock);
        item !== null;
        item = containerOf(doc, item.client, item.clock)
      ) {
        const owner = owners.at(item.client, item.clock).range?.hunkId
        if (owner !== undefined && owner !== hunk.hunkId) containers.add(owner)
      }
    return { ...hunk, dependsOn: [...containers] }
  })
}

/** Returns the id of the value that contains an item; null if the item is directly in a root. */
function containerOf(doc: Y.Doc, client: number, clock: number): Y.ID | null {
  const parent = itemIn(doc, { client, clock })?.parent
  return parent instanceof Y.AbstractType ? (parent._item?.id ?? null) : null
}

/** Returns a function that returns the known authors of a hunk, the first one first. */
export function hunkAuthors(
  attribution: Attribution,
): (hunk: Pick<BranchHunk, 'ranges'>) => readonly HunkAuthor[] {
  const sides = [
    ['inserted', new RangeIndex(attribution.inserted)],
    ['deleted', new RangeIndex(attribution.deleted)],
  ] as const
  return ({ ranges }) => {
    const authors = new Map<string, HunkAuthor>()
    for (const [side, index] of sides)
      for (const { range } of ranges[side].flatMap((each) => [...index.parts(each)])) {
        const { by = '', at = 0 } = range?.origin ?? {}
        if (by !== '') authors.set(by, { userId: by, at: Math.max(authors.get(by)?.at ?? 0, at) })
      }
    return [...authors.values()]
  }
}

/**
 * Returns the formatting marks that were deleted, and the equal ones that were inserted at the same place, as a
 * rejection does. They change no formatting. Takes linear time.
 */
function replacedMarks(reader: SegmentReader): RangeIndex<IdRange> {
  const { doc } = reader.history
  const found: IdRange[] = []
  for (const name of rootNames(doc)) collect(doc.share.get(name) as SharedRoot, reader, found)
  return RangeIndex.of(found)
}

function collect(type: SharedRoot, reader: SegmentReader, found: IdRange[]): void {
  for (const last of type._map.values())
    for (let item: Y.Item | null = last; item !== null; item = item.left) nested(item, reader, found)
  let marks = new Map<string, SideMarks>()
  for (let item = type._start; item !== null; item = item.right) {
    nested(item, reader, found)
    const { content, id } = item
    for (const { state } of reader.of(item)) {
      if (item.countable && (isIn('from', state) || isIn('to', state))) marks = pairs(marks, found)
      if (!(content instanceof Y.ContentFormat) || (state !== 'inserted' && state !== 'deleted')) continue
      const name = JSON.stringify([content.key, content.value])
      const same = marks.get(name) ?? { inserted: [], deleted: [] }
      same[state].push({ client: id.client, clock: id.clock, length: 1 })
      marks.set(name, same)
    }
  }
  pairs(marks, found)
}

interface SideMarks {
  readonly inserted: IdRange[]
  readonly deleted: IdRange[]
}

/** Adds the pairs of equal marks between two visible parts. Returns an empty map. */
function pairs(marks: ReadonlyMap<string, SideMarks>, found: IdRange[]): Map<string, SideMarks> {
  for (const { inserted, deleted } of marks.values()) {
    const count = Math.min(inserted.length, deleted.length)
    found.push(...inserted.slice(0, count), ...deleted.slice(0, count))
  }
  return marks.size === 0 ? (marks as Map<string, SideMarks>) : new Map()
}

function nested({ content }: Y.Item, reader: SegmentReader, found: IdRange[]): void {
  if (content instanceof Y.ContentType) collect(content.type, reader, found)
}
