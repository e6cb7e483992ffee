import type { Key } from '../store/engine.ts'
import { readRecord } from '../store/stored-record.ts'
import { type ActivityTraits, activityTraitsType } from './activity.ts'
import { comparePositions, entryAt, type Position, positionIn } from './activity-keys.ts'
import type { PartitionReader } from './partition.ts'

export type Order = 'asc' | 'desc'

/** Returns a negative number if `a` is listed before `b`. */
export const compareIn =
  (order: Order) =>
  (a: Position, b: Position): number =>
    order === 'asc' ? comparePositions(a, b) : comparePositions(b, a)

interface IndexEntry {
  readonly position: Position
  readonly traits: ActivityTraits
}

/** All entries of an index in a range of positions, sorted. */
export interface Chunk {
  readonly entries: readonly IndexEntry[]
  /** The last position that the chunk covers; null if the chunk reaches the end of the index. */
  readonly until: Position | null
}

export interface ChunkRange {
  readonly order: Order
  /** Position after which the entries start; null to start with the first entry. */
  readonly after: Position | null
  /** Maximum number of entries to read, divided equally among the parts (rounded up). */
  readonly limit: number
}

/**
 * Reads the next entries of an index.
 * @param parts prefixes of the parts of the index; the parts are merged into one list
 */
export async function readChunk(
  reader: PartitionReader,
  parts: readonly Key[],
  range: ChunkRange,
): Promise<Chunk> {
  const limit = Math.ceil(range.limit / parts.length)
  const found = await Promise.all(parts.map((prefix) => readPart(reader, prefix, { ...range, limit })))
  const compare = compareIn(range.order)
  // The chunk ends where the first unfinished part ends. The next entry of that part is not known yet, and
  // may precede entries of other parts.
  const ends = found.flatMap(({ until }) => (until === null ? [] : [until]))
  const until = ends.toSorted(compare)[0] ?? null
  const entries = found.flatMap((chunk) => chunk.entries)
  if (parts.length > 1) entries.sort((a, b) => compare(a.position, b.position))
  return {
    entries: until === null ? entries : entries.filter(({ position }) => compare(position, until) <= 0),
    until,
  }
}

async function readPart(
  reader: PartitionReader,
  prefix: Key,
  { order, after, limit }: ChunkRange,
): Promise<Chunk> {
  const entries = await reader.scan({
    prefix,
    limit,
    reverse: order === 'desc',
    ...(after !== null && { after: entryAt(prefix, after) }),
  })
  const last = entries.at(-1)
  return {
    entries: entries.map((entry) => ({
      position: positionIn(entry.key),
      traits: readRecord(activityTraitsType, entry),
    })),
    until: last === undefined || entries.length < limit ? null : positionIn(last.key),
  }
}
