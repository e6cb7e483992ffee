import type { Key } from '../store/engine.ts'
import { readRecord } from '../store/stored-record.ts'
import { type ActivityTraits, activityTraitsType, type FeatureType } from './activity.ts'
import { activityKeys, comparePositions, entryAt, type Position, positionIn } from './activity-keys.ts'
import type { PartitionReader } from './partition.ts'

/** Filter of activities. An activity must match every member that is present. */
export interface ActivityQuery {
  readonly documentId?: string
  readonly userId?: string
  readonly targetEntityId?: string
  readonly locationId?: string
  /** The activity must have one of these types. */
  readonly featureTypes?: readonly FeatureType[]
  /** The activity must have one of these types. */
  readonly actionTypes?: readonly string[]
}

type Wanted = readonly [trait: keyof ActivityTraits, values: readonly string[]]

function wantedOf(query: ActivityQuery): readonly Wanted[] {
  const one = (value: string | undefined) => (value === undefined ? undefined : [value])
  const all: readonly (readonly [keyof ActivityTraits, readonly string[] | undefined])[] = [
    ['documentId', one(query.documentId)],
    ['userId', one(query.userId)],
    ['targetEntityId', one(query.targetEntityId)],
    ['locationId', one(query.locationId)],
    ['featureType', query.featureTypes],
    ['actionType', query.actionTypes],
  ]
  return all.flatMap(([trait, values]) => (values === undefined ? [] : [[trait, [...new Set(values)]]]))
}

/** Returns a function that checks whether traits match the query. */
export function matcher(query: ActivityQuery): (traits: ActivityTraits) => boolean {
  const wanted = wantedOf(query).map(([trait, values]) => [trait, new Set<string | null>(values)] as const)
  return (traits) => wanted.every(([trait, values]) => values.has(traits[trait]))
}

/**
 * Returns the indexes that can answer a query. Each returned index alone contains all matching activities. An
 * index is a list of disjoint key prefixes, one for each of its parts. Returns an empty array if the query
 * has no conditions, so that every activity matches.
 */
export const indexesFor = (query: ActivityQuery): readonly (readonly Key[])[] =>
  wantedOf(query).map(([trait, values]) => values.map((value) => activityKeys.by(trait, value)))

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
