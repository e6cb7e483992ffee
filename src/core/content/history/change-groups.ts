import { createHash } from 'node:crypto'
import { addTo } from '../../base/maps.ts'
import type { ChangeMeta, ChangeOrigin, ChangeSource } from '../../model/change-origin.ts'
import type { IdRange } from '../../update/range-index.ts'
import { rangeOfSegment, type Segment, type SegmentReader } from './segments.ts'

/** The changes of one author, source and `meta` without a long pause. */
export interface ChangeGroup {
  /** Equal for every read of the same two versions. */
  readonly changeId: string
  /** Null if the user is unknown. */
  readonly userId: string | null
  /** Time of the first change, in epoch milliseconds; null if it is unknown. */
  readonly firstAt: number | null
  /** Time of the last change, in epoch milliseconds; null if it is unknown. */
  readonly lastAt: number | null
  /** Null if the source is unknown. */
  readonly source: ChangeSource | null
  readonly meta: ChangeMeta | null
  /** Ids that the group has inserted or deleted. Content that the group itself has inserted and deleted is left out. */
  readonly inserted: readonly IdRange[]
  readonly deleted: readonly IdRange[]
  /** Number of inserted and of deleted UTF-16 units and values. */
  readonly insertions: number
  readonly deletions: number
}

/** The changes between two versions, by time. Changes without a known time are first. */
export interface GroupedChanges {
  readonly groups: readonly ChangeGroup[]
  /** Returns the group of an origin; null stands for an unknown origin. */
  readonly groupOf: (origin: ChangeOrigin | null) => ChangeGroup | undefined
}

/** Default number of seconds without a change after which a new group starts. */
export const defaultGroupSeconds = 300

/** Groups the changes between the two versions of a history. Takes linear time, except for sorting by time. */
export function groupChanges(reader: SegmentReader, groupSeconds = defaultGroupSeconds): GroupedChanges {
  const changed: Segment[] = []
  const origins = new Set<ChangeOrigin | null>()
  for (const segment of reader.all()) {
    const { state, inserter, deleter } = segment
    if (state !== 'inserted' && state !== 'deleted' && state !== 'transient') continue
    changed.push(segment)
    if (state !== 'deleted') origins.add(inserter)
    if (state !== 'inserted') origins.add(deleter)
  }
  const groups = new Map<ChangeOrigin | null, GroupBuilder>()
  for (const builder of buildersOf(origins, groupSeconds * 1_000))
    for (const origin of builder.origins) groups.set(origin, builder)
  for (const segment of changed) {
    const { state } = segment
    const inserter = state === 'deleted' ? undefined : groups.get(segment.inserter)
    const deleter = state === 'inserted' ? undefined : groups.get(segment.deleter)
    if (inserter === deleter) continue
    inserter?.add('inserted', segment)
    deleter?.add('deleted', segment)
  }
  const built = new Map<GroupBuilder, ChangeGroup>()
  for (const builder of groups.values())
    if (!built.has(builder) && !builder.isEmpty) built.set(builder, builder.build())
  return {
    groups: [...built.values()].sort(byTime),
    groupOf: (origin) => {
      const builder = groups.get(origin)
      return builder === undefined ? undefined : built.get(builder)
    },
  }
}

function* buildersOf(origins: ReadonlySet<ChangeOrigin | null>, pauseMs: number): Generator<GroupBuilder> {
  const authors = new Map<string, ChangeOrigin[]>()
  for (const origin of origins) {
    if (origin === null) {
      yield new GroupBuilder([null])
      continue
    }
    const author = authorKey(origin)
    addTo(authors, author, origin)
  }
  for (const ofAuthor of authors.values()) {
    ofAuthor.sort((a, b) => a.at - b.at)
    let group: ChangeOrigin[] = []
    for (const origin of ofAuthor) {
      const last = group.at(-1)
      if (last !== undefined && origin.at - last.at > pauseMs) {
        yield new GroupBuilder(group)
        group = []
      }
      group.push(origin)
    }
    yield new GroupBuilder(group)
  }
}

const authorKey = ({ by, source, meta }: ChangeOrigin): string =>
  JSON.stringify([by, source, sortedMeta(meta)])

/** Returns the members in the order of their names, because equal objects can differ in this order. */
const sortedMeta = (meta: ChangeMeta | null): unknown =>
  meta === null ? null : Object.entries(meta).sort(([a], [b]) => (a < b ? -1 : 1))

const byTime = (a: ChangeGroup, b: ChangeGroup): number =>
  (a.firstAt ?? 0) - (b.firstAt ?? 0) || (a.changeId < b.changeId ? -1 : 1)

/** Number of characters of a `changeId`: 132 bits of a hash. */
const idLength = 22

class GroupBuilder {
  /** All with the same author, in the order of their times; or only null. */
  readonly origins: readonly (ChangeOrigin | null)[]
  readonly #inserted: IdRange[] = []
  readonly #deleted: IdRange[] = []
  #insertions = 0
  #deletions = 0

  constructor(origins: readonly (ChangeOrigin | null)[]) {
    this.origins = origins
  }

  get isEmpty(): boolean {
    return this.#inserted.length + this.#deleted.length === 0
  }

  add(what: 'inserted' | 'deleted', segment: Segment): void {
    const range = rangeOfSegment(segment)
    const counted = segment.item.countable ? segment.length : 0
    if (what === 'inserted') {
      this.#inserted.push(range)
      this.#insertions += counted
    } else {
      this.#deleted.push(range)
      this.#deletions += counted
    }
  }

  build(): ChangeGroup {
    const [first, last] = [this.origins[0] ?? null, this.origins.at(-1) ?? null]
    return {
      changeId: this.#id(first),
      userId: first === null || first.by === '' ? null : first.by,
      firstAt: timeOf(first),
      lastAt: timeOf(last),
      source: first?.source ?? null,
      meta: first?.meta ?? null,
      inserted: this.#inserted,
      deleted: this.#deleted,
      insertions: this.#insertions,
      deletions: this.#deletions,
    }
  }

  #id(origin: ChangeOrigin | null): string {
    const ids = [firstOf(this.#inserted), firstOf(this.#deleted)]
    const author = origin === null ? '' : authorKey(origin)
    const hash = createHash('sha256').update(JSON.stringify([author, ids]))
    return hash.digest('base64url').slice(0, idLength)
  }
}

const timeOf = (origin: ChangeOrigin | null): number | null =>
  origin === null || origin.at === 0 ? null : origin.at

/** Returns the smallest id. The order of the clients in a Y.Doc can differ between two reads. */
function firstOf(ranges: readonly IdRange[]): readonly [client: number, clock: number] | null {
  let first: IdRange | undefined
  for (const range of ranges)
    if (
      first === undefined ||
      range.client < first.client ||
      (range.client === first.client && range.clock < first.clock)
    )
      first = range
  return first === undefined ? null : [first.client, first.clock]
}
