import type { Key } from '../engine/engine.ts'
import type { ActivityTraits } from './activity.ts'
import { comparePositions, entryAt, type Position, positionIn } from './activity-keys.ts'
import { type PartitionReader, storedIn } from './partition.ts'

export type Order = 'asc' | 'desc'

/** Returns a negative number if `a` is listed before `b`. */
export const compareIn =
  (order: Order) =>
  (a: Position, b: Position): number =>
    order === 'asc' ? comparePositions(a, b) : comparePositions(b, a)

export interface IndexEntry {
  readonly position: Position
  readonly traits: ActivityTraits
}

/** All entries of an index from one position to another, in order. */
export interface Chunk {
  readonly entries: readonly IndexEntry[]
  /** The last position that the chunk covers; null: the index has ended. */
  readonly until: Position | null
}

export interface ChunkRange {
  readonly order: Order
  /** Only entries after it; null: from the beginning. */
  readonly after: Position | null
  /** Maximum number of entries to read over all parts; at least one of each part. */
  readonly limit: number
}

/** @param parts prefixes of an index in several parts, which are listed as one */
export async function readChunk(
  reader: PartitionReader,
  parts: readonly Key[],
  range: ChunkRange,
): Promise<Chunk> {
  const limit = Math.ceil(range.limit / parts.length)
  const found = await Promise.all(parts.map((prefix) => readPart(reader, prefix, { ...range, limit })))
  const compare = compareIn(range.order)
  // After the nearest end of an unfinished part, further entries of that part may precede those of others.
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
      traits: storedIn(entry) as ActivityTraits,
    })),
    until: last === undefined || entries.length < limit ? null : positionIn(last.key),
  }
}
