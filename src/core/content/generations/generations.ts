import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { AttributedRange, Attribution } from '../../update/attribution/attribution.ts'
import { disjoint, type IdRange, RangeIndex, type StoredId } from '../../update/range-index.ts'
import { type ReadItem, readUpdate } from '../../update/read-update.ts'
import type { CopiedIds } from '../copies/copy-writer.ts'
import { attributionOfCopy } from '../fresh-copy.ts'

/**
 * The smallest client id of copies. Yjs chooses smaller ids for its clients, and where two items have the same place,
 * Yjs orders them by client. A copy is therefore behind all items that it replaces, and its map entries win.
 */
export const copyClientMin = 2 ** 32

export interface NestedCopy extends CopiedIds {
  /**
   * Client id of the archive that has replaced the type with these ids, if it was not replaced together with them; 0
   * otherwise. Its update deletes the type, and thereby these ids in clients that have them.
   */
  readonly inside: number
}

/**
 * The ids of content that a copy has replaced. Its items are stored apart: they are needed for a rebase only. A prune
 * makes one for the whole document. A rebase makes one for the edit of a client that had not received the prune.
 */
export interface Archive {
  /** Client id of the copies, at least `copyClientMin`. Its first id is always deleted: a client with it has the copies. */
  readonly client: number
  readonly copies: readonly NestedCopy[]
  /** All replaced ids. Most of them have no copy, because they were deleted. */
  readonly old: readonly IdRange[]
  /** The other ids to which the items of this archive refer. */
  readonly refersTo: readonly IdRange[]
  /** The client id of the first items of the roots, which no prune replaces; -1 if there are none. */
  readonly edge: number
  /** Number of prunes until then. */
  readonly generation: number
}

export function encodeArchive({ client, copies, old, refersTo, edge, generation }: Archive): Uint8Array {
  const encoder = encoding.createEncoder()
  const copied = copies.flatMap(({ clock, source: { client: owner, clock: start, length }, inside }) => [
    clock,
    owner,
    start,
    length,
    inside,
  ])
  const [replaced, others] = [old, refersTo].map((ids) =>
    ids.flatMap((range) => [range.client, range.clock, range.length]),
  )
  encoding.writeAny(encoder, { client, edge, generation, copies: copied, old: replaced, refersTo: others })
  return encoding.toUint8Array(encoder)
}

interface EncodedArchive extends Pick<Archive, 'client' | 'edge' | 'generation'> {
  readonly copies: readonly number[]
  readonly old: readonly number[]
  readonly refersTo: readonly number[]
}

/** Reads an archive that `encodeArchive` has written. */
export function decodeArchive(bytes: Uint8Array): Archive {
  const { client, edge, generation, copies, old, refersTo } = decoding.readAny(
    decoding.createDecoder(bytes),
  ) as EncodedArchive
  return {
    client,
    edge,
    generation,
    copies: rows(copies, 5).map(([clock = 0, owner = 0, start = 0, length = 0, inside = 0]) => ({
      clock,
      source: { client: owner, clock: start, length },
      inside,
    })),
    old: rangesIn(old),
    refersTo: rangesIn(refersTo),
  }
}

const rangesIn = (numbers: readonly number[]): readonly IdRange[] =>
  rows(numbers, 3).map(([client = 0, clock = 0, length = 0]) => ({ client, clock, length }))

const rows = (numbers: readonly number[], length: number): readonly (readonly number[])[] =>
  Array.from({ length: numbers.length / length }, (_, row) => numbers.slice(row * length, (row + 1) * length))

function withoutRanges(
  lists: Attribution['inserted'],
  replaced: RangeIndex<IdRange>,
): ReadonlyMap<number, readonly AttributedRange[]> {
  const kept = new Map<number, readonly AttributedRange[]>()
  for (const [client, ranges] of lists) {
    const left = ranges.flatMap((each) =>
      [...replaced.parts({ client, ...each })]
        .filter(({ range }) => range === null)
        .map(({ clock, length }) => ({ ...each, clock, length })),
    )
    if (left.length > 0) kept.set(client, left)
  }
  return kept
}

/**
 * Maximum number of rebases in one generation. Each returning client with own edits takes one, and each edit that was
 * on its way during a prune. The next prune starts to count again.
 */
export const rebasesMax = 1_000

/** Replaced ids, and their archive. */
interface OldIds extends IdRange {
  readonly archive: Archive
}

/** Returns the ids to which the new part of an item refers. */
function referredBy(
  { client, clock, length, origin, rightOrigin, parent }: ReadItem,
  clocks: ReadonlyMap<number, number>,
): readonly StoredId[] {
  const known = clocks.get(client) ?? 0
  if (clock + length <= known) return []
  const before = clock < known ? { client, clock: known - 1 } : origin
  return [before, rightOrigin, typeof parent === 'object' ? parent : null].filter((id) => id !== null)
}

/** Returns the ids to which the new part of an update refers. */
export function referredIds(update: Uint8Array, clocks: ReadonlyMap<number, number>): readonly IdRange[] {
  const ids: IdRange[] = []
  readUpdate(update, {
    item: (item) => void ids.push(...referredBy(item, clocks).map((id) => ({ ...id, length: 1 }))),
  })
  return disjoint(ids)
}

/** Ids with a copy that starts at the id `to` of the client `by`. */
interface MovedIds extends IdRange, Pick<NestedCopy, 'inside'> {
  readonly by: number
  readonly to: number
}

/** The archives of one document, the oldest first. Finds the edits that were made for an earlier generation. */
export class Generations {
  readonly archives: readonly Archive[]
  readonly #old: RangeIndex<OldIds>
  readonly #moved: RangeIndex<MovedIds>

  constructor(archives: readonly Archive[]) {
    this.archives = archives
    this.#old = RangeIndex.of(archives.flatMap((archive) => archive.old.map((ids) => ({ ...ids, archive }))))
    this.#moved = RangeIndex.of(
      archives.flatMap(({ client: by, copies }) =>
        copies.map(({ clock: to, source, inside }) => ({ ...source, inside, by, to })),
      ),
    )
  }

  /** Returns these generations and a new one. */
  with(archive: Archive): Generations {
    return new Generations([...this.archives, archive])
  }

  /**
   * Returns whether a client with this state vector has missed a prune or a rebase, and may have edits of its own.
   */
  areMissedBy(clocks: ReadonlyMap<number, number>): boolean {
    return clocks.size > 0 && this.archives.some(({ client }) => !clocks.has(client))
  }

  /**
   * Returns an attribution in which each copy has the origin of the id that it copies, instead of that of the prune, and
   * that lacks the replaced ids. A crash may have prevented the compaction that does this.
   */
  carry(attribution: Attribution): Attribution {
    let { inserted, deleted } = attribution
    for (const { client, copies, old } of this.archives) {
      const [[, origins = []] = []] = attributionOfCopy(client, copies, { inserted, deleted }).inserted
      if (origins.length === 0) continue
      const replaced = RangeIndex.of([...old, { client, clock: 0, length: Number.POSITIVE_INFINITY }])
      inserted = new Map([...withoutRanges(inserted, replaced), [client, origins]])
      deleted = withoutRanges(deleted, replaced)
    }
    return { inserted, deleted }
  }

  /** The client id of the copies of the last prune; null if there is none. */
  get lastPrune(): number | null {
    const last = this.archives.find(({ generation }) => generation > 0 && generation === this.count)
    return last?.client ?? null
  }

  /** Number of prunes. */
  get count(): number {
    return this.archives.at(-1)?.generation ?? 0
  }

  /** The client id of the first items of the roots; -1 if there are none. */
  get edge(): number {
    return this.archives.at(-1)?.edge ?? -1
  }

  isOld(id: StoredId | null): boolean {
    return id !== null && this.#old.has(id.client, id.clock)
  }

  /**
   * Returns whether a vetted update contains an edit of an earlier generation: an item next to old ones, or the
   * deletion of content that has a copy.
   * @param clocks the clocks of the document
   */
  concern(update: Uint8Array, clocks: ReadonlyMap<number, number>): boolean {
    let isEdit = false
    const deleted: IdRange[] = []
    readUpdate(update, {
      item: (item) => {
        isEdit ||= referredBy(item, clocks).some((id) => this.isOld(id))
      },
      deletion: (client, clock, length) => void deleted.push({ client, clock, length }),
    })
    return isEdit || this.deletedCopies(deleted).length > 0
  }

  /**
   * Returns the client ids of the archives whose items are needed to integrate the new part of an update.
   * @param clocks as for `concern`
   */
  neededBy(update: Uint8Array, clocks: ReadonlyMap<number, number>): readonly number[] {
    return this.archivesOf(referredIds(update, clocks))
  }

  /** Returns the client ids of the archives with the items of these ids, and with those to which these items refer. */
  archivesOf(ids: readonly IdRange[]): readonly number[] {
    const found = new Set<Archive>()
    const left = [...ids]
    // The list grows meanwhile.
    for (const each of left)
      for (const { range } of this.#old.parts(each)) {
        if (range === null || found.has(range.archive)) continue
        found.add(range.archive)
        for (const other of range.archive.refersTo) left.push(other)
      }
    return [...found].map(({ client }) => client)
  }

  /** True if no more edits are rebased before the next prune. */
  get isFull(): boolean {
    return this.archives.filter(({ generation }) => generation === this.count).length > rebasesMax
  }

  /**
   * Returns the copies of the content that the sender of an update has deleted. A sender that has the copies has not
   * deleted the originals itself.
   * @param deleted all deletions of the update
   */
  deletedCopies(deleted: readonly IdRange[]): readonly IdRange[] {
    const received = new Set(deleted.filter(({ clock }) => clock === 0).map(({ client }) => client))
    return deleted.flatMap((each) =>
      [...this.#moved.parts(each)].flatMap((part) =>
        part.range === null || received.has(part.range.by) || received.has(part.range.inside)
          ? []
          : this.copiesOf(part),
      ),
    )
  }

  /** Returns the client id of the archive that has replaced content; 0 if none has. */
  replacedBy({ client, clock }: StoredId): number {
    return this.#moved.at(client, clock).range?.by ?? 0
  }

  /** Returns the present ids of content. Ids without a copy stay. */
  copiesOf(ids: IdRange): readonly IdRange[] {
    return [...this.#moved.parts(ids)].flatMap(({ range, client, clock, length }) =>
      range === null
        ? [{ client, clock, length }]
        : this.copiesOf({ client: range.by, clock: range.to + clock - range.clock, length }),
    )
  }

  /** Divides ids so that the copy of each part is in one piece. Returns the last present id of each part. */
  lastCopiesOf(ids: IdRange): readonly StoredId[] {
    return this.copiesOf(ids).map(({ client, clock, length }) => ({ client, clock: clock + length - 1 }))
  }
}
