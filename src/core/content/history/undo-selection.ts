import * as Y from 'yjs'
import type { ChangeOrigin } from '../../model/change-origin.ts'
import { type IdRange, RangeIndex } from '../../update/range-index.ts'
import { type GroupedChanges, groupChanges } from './change-groups.ts'
import { type ChangeFilter, HunkWalk, matchesGroup, matchesOrigin } from './change-sets.ts'
import { rangeOfSegment, type Segment, type SegmentReader } from './segments.ts'

/** The changes to undo. All given conditions must be met; without any, all changes between the versions are meant. */
export interface UndoSelection extends ChangeFilter {
  /** See `groupChanges`; must be as in the call that has returned the ids. */
  readonly groupSeconds?: number | undefined
  readonly changes?: readonly SelectedChange[] | undefined
}

interface SelectedChange {
  readonly changeId: string
  /** Numbers of hunks; absent: all hunks. */
  readonly hunks?: readonly number[] | undefined
}

/**
 * Why a part of a change was not undone. `unknown-change`: no change between the versions has this id.
 * `changed-since`: another change has set the same entry or formatting. `deleted-container`: another change has
 * deleted the value that contained the content. `contains-other-changes`: the inserted value contains content of
 * other changes. `content-lost`: the deleted content is no longer stored. `overlap`: another change has changed the same
 * word.
 */
export const undoProblems = [
  'unknown-change',
  'changed-since',
  'deleted-container',
  'contains-other-changes',
  'content-lost',
  'overlap',
] as const

type UndoProblem = (typeof undoProblems)[number]

/** Maximum number of users that a warning names. */
const namedAuthorsMax = 10

/** A part of a change that was not undone. */
export interface NotUndone {
  readonly changeId: string
  /** Number of the hunk; null if the whole change is unknown. */
  readonly hunk: number | null
  readonly reason: UndoProblem
}

/** Selected ids of one hunk. */
export interface SelectedRange extends IdRange {
  readonly changeId: string
  readonly hunk: number
}

/** The ids that selected changes have inserted and deleted. */
export class SelectedIds {
  readonly inserted: RangeIndex<SelectedRange>
  readonly deleted: RangeIndex<SelectedRange>
  /** Time of the first selected change, in epoch milliseconds; 0 if it is unknown. */
  readonly firstAt: number
  readonly #reader: SegmentReader
  readonly #grouped: GroupedChanges
  readonly #hunks = new Set<string>()
  readonly #problems = new Map<string, NotUndone>()
  readonly #unknown: readonly NotUndone[]
  readonly #isMatched: boolean
  /** Returns whether a change between the versions is selected. */
  readonly includes: (origin: ChangeOrigin | null) => boolean

  constructor(reader: SegmentReader, { groupSeconds, changes, ...filter }: UndoSelection) {
    const grouped = groupChanges(reader, groupSeconds)
    this.#reader = reader
    this.#grouped = grouped
    const wanted = new Map(changes?.map(({ changeId, hunks }) => [changeId, hunks]))
    const groups = grouped.groups.filter(
      (group) => matchesGroup(group, filter) && (changes === undefined || wanted.has(group.changeId)),
    )
    this.#isMatched = groups.length > 0 || changes !== undefined
    this.firstAt = groups.reduce(
      (first, group) => Math.min(first, group.firstAt ?? 0),
      Number.POSITIVE_INFINITY,
    )
    const selected = new Set(groups)
    this.includes = (origin) => {
      const group = grouped.groupOf(origin)
      if (group !== undefined) return selected.has(group)
      // All content of its change set was inserted and deleted by itself.
      return changes === undefined && matchesOrigin(origin, filter)
    }
    const found = new Set(groups.map(({ changeId }) => changeId))
    this.#unknown = [...wanted.keys()]
      .filter((changeId) => !found.has(changeId))
      .map((changeId) => ({ changeId, hunk: null, reason: 'unknown-change' }))
    const ranges = { inserted: [] as SelectedRange[], deleted: [] as SelectedRange[] }
    const limits = { hunksMax: 0, charactersMax: 0 }
    new HunkWalk(reader, grouped, selected, limits, ({ changeId }, hunk, side, segment) => {
      if (wanted.get(changeId)?.includes(hunk) === false) return
      ranges[side].push({ ...rangeOfSegment(segment), changeId, hunk })
      this.#hunks.add(`${changeId} ${hunk}`)
    }).run()
    this.inserted = RangeIndex.of(ranges.inserted)
    this.deleted = RangeIndex.of(ranges.deleted)
  }

  /** Returns whether one change set has inserted and deleted the content. */
  isPassing({ state, inserter, deleter }: Segment): boolean {
    return state === 'transient' && this.#grouped.groupOf(inserter) === this.#grouped.groupOf(deleter)
  }

  /**
   * Returns a function that returns the parts of an item in a deleted value that a copy of the value has: all parts that
   * were deleted with the value.
   */
  returnedWith(value: Y.Item): (item: Y.Item) => readonly Segment[] {
    const isUndone = this.deleted.has(value.id.client, value.id.clock)
    const cause = isUndone ? null : this.#reader.of(value)[0]?.deleter
    return (item) => {
      if (item.content instanceof Y.ContentDeleted) return []
      const { client, clock } = item.id
      return this.#reader
        .of(item)
        .filter(
          ({ offset, deleter }) =>
            (isUndone ? this.deleted.has(client, clock + offset) : deleter === cause) &&
            !this.inserted.has(client, clock + offset),
        )
    }
  }

  /** Reports that a part of a hunk was not undone. Only the first reason of each hunk is kept. */
  report({ changeId, hunk }: SelectedRange, reason: UndoProblem): void {
    const key = `${changeId} ${hunk}`
    if (!this.#problems.has(key)) this.#problems.set(key, { changeId, hunk, reason })
  }

  get notUndone(): readonly NotUndone[] {
    return [...this.#unknown, ...this.#problems.values()]
  }

  /** The users of all changes between the versions if no change has the given user and meta; else null. */
  get otherAuthors(): readonly string[] | null {
    if (this.#isMatched) return null
    const authors = this.#grouped.groups.flatMap(({ userId }) => userId ?? [])
    return [...new Set(authors)].slice(0, namedAuthorsMax)
  }

  /** Number of selected hunks that were undone completely. */
  get undone(): number {
    return this.#hunks.size - this.#problems.size
  }
}
