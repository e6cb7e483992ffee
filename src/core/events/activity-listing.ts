import type { Key } from '../store/engine.ts'
import { readRecord } from '../store/stored-record.ts'
import { type ActivityRecord, type ActivityTraits, activityRecordType, traitsOf } from './activity.ts'
import {
  activityKeys,
  type Position,
  positionIn,
  positionOf,
  readPosition,
  writePosition,
} from './activity-keys.ts'
import {
  type ActivityQuery,
  type Chunk,
  type ChunkRange,
  compareIn,
  indexesFor,
  matcher,
  type Order,
  readChunk,
} from './activity-query.ts'
import { readActivities } from './activity-store.ts'
import type { PartitionReader } from './partition.ts'

/**
 * Maximum number of index entries in one read. Only the first read for a query with one condition has another
 * size, because all entries of its index match.
 */
const chunkSize = 500
/**
 * Maximum number of index entries that are read for one page. If this number is reached, the page ends even
 * if it is not full.
 */
const lookedAtMax = 2_000
/** Maximum number of activities in one read. */
const sliceSize = 250
/**
 * Size of the JSON of a page in bytes at which the page ends. The slice that reaches this size still belongs
 * to the page.
 */
const pageBytesMax = 4_194_304

export interface ActivityRange {
  readonly order: Order
  /** `next` of the previous page; undefined for the first page. */
  readonly after: string | undefined
  /** Maximum number of activities; at least 1. */
  readonly limit: number
}

export interface ListedActivities {
  readonly items: readonly ActivityRecord[]
  /** Position after which the next page starts, as text; null if there is no further page. */
  readonly next: string | null
}

/**
 * Lists matching activities by time. An activity never changes its position. Therefore an activity that
 * exists during the whole listing is listed exactly once, even if others change between pages. The work and
 * the size of a page are limited: a page may have fewer than `limit` activities, or none, although further
 * pages follow.
 */
export async function listActivities(
  reader: PartitionReader,
  query: ActivityQuery,
  { order, after, limit }: ActivityRange,
): Promise<ListedActivities> {
  const indexes = indexesFor(query)
  const range = { order, after: after === undefined ? null : readPosition(after), limit }
  if (indexes.length === 0) return listAll(reader, range)
  const { positions, until } = await lookFor(reader, indexes, matcher(query), range)
  const records = await readSlices(reader, positions)
  // Filters again: an activity may have been removed or changed after its index entry was read.
  const items = fitting(records, query)
  const end = records.length < positions.length ? (positions[records.length - 1] ?? null) : until
  return { items, next: end === null ? null : writePosition(end) }
}

/** Reads the activities at `positions` in this order, until the page has reached its maximum size. */
async function readSlices(
  reader: PartitionReader,
  positions: readonly Position[],
): Promise<readonly (ActivityRecord | null)[]> {
  const records: (ActivityRecord | null)[] = []
  for (let bytes = 0; records.length < positions.length && bytes < pageBytesMax; ) {
    const slice = positions.slice(records.length, records.length + sliceSize)
    const found = await reader.getAll(slice.map(activityKeys.activity), activityRecordType)
    records.push(...found)
    bytes += bytesOf(found)
  }
  return records
}

const bytesOf = (records: readonly unknown[]): number => Buffer.byteLength(JSON.stringify(records))

async function listAll(
  reader: PartitionReader,
  { order, after, limit }: ChunkRange,
): Promise<ListedActivities> {
  const prefix = activityKeys.activities
  const items: ActivityRecord[] = []
  let last = after
  for (let bytes = 0; items.length < limit && bytes < pageBytesMax; ) {
    const size = Math.min(sliceSize, limit - items.length)
    const from = last === null ? {} : { after: activityKeys.activity(last) }
    const entries = await reader.scan({ prefix, limit: size + 1, reverse: order === 'desc', ...from })
    const slice = entries.slice(0, size)
    items.push(...slice.map((entry) => readRecord(activityRecordType, entry)))
    const end = slice.at(-1)
    if (end === undefined || entries.length <= size) return { items, next: null }
    bytes += slice.reduce((sum, { value }) => sum + value.length, 0)
    last = positionIn(end.key)
  }
  return { items, next: last === null ? null : writePosition(last) }
}

interface Found {
  readonly positions: readonly Position[]
  /** The last position that was read; null if the end was reached. */
  readonly until: Position | null
}

/**
 * Finds matching positions. Reads a first chunk of each index, and continues with the index whose chunk
 * covers the longest range. This index has the fewest entries that do not match.
 */
async function lookFor(
  reader: PartitionReader,
  indexes: readonly (readonly Key[])[],
  fits: (traits: ActivityTraits) => boolean,
  range: ChunkRange,
): Promise<Found> {
  const { order, limit } = range
  const size = indexes.length === 1 ? limit + 1 : chunkSize
  let { index, chunk } = await furthest(reader, indexes, { ...range, limit: size })
  const positions: Position[] = []
  for (let lookedAt = 0; ; ) {
    for (const { position, traits } of chunk.entries) {
      if (!fits(traits)) continue
      if (positions.length === limit) return { positions, until: positions.at(-1) ?? null }
      positions.push(position)
    }
    lookedAt += chunk.entries.length
    if (chunk.until === null || positions.length === limit || lookedAt >= lookedAtMax)
      return { positions, until: chunk.until }
    chunk = await readChunk(reader, index, { order, after: chunk.until, limit: chunkSize })
  }
}

async function furthest(
  reader: PartitionReader,
  indexes: readonly (readonly Key[])[],
  range: ChunkRange,
): Promise<{ index: readonly Key[]; chunk: Chunk }> {
  const compare = compareIn(range.order)
  const all = await Promise.all(
    indexes.map(async (index) => ({ index, chunk: await readChunk(reader, index, range) })),
  )
  return all.reduce((best, other) => {
    if (best.chunk.until === null) return best
    if (other.chunk.until === null) return other
    return compare(best.chunk.until, other.chunk.until) < 0 ? other : best
  })
}

/**
 * Returns the activities that have one of the given ids and match the query, sorted by time.
 * @param ids ids of activities; their number must not exceed the limit of one read
 */
export async function findActivities(
  reader: PartitionReader,
  ids: readonly string[],
  query: ActivityQuery,
  { order, after, limit }: ActivityRange,
): Promise<ListedActivities> {
  const compare = compareIn(order)
  const from = after === undefined ? null : readPosition(after)
  const records = [...(await readActivities(reader, [...new Set(ids)])).values()]
  const found = fitting(records, query)
    .map((item) => ({ item, position: positionOf(item) }))
    .filter(({ position }) => from === null || compare(position, from) > 0)
    .toSorted((a, b) => compare(a.position, b.position))
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const more = found.length > limit && last !== undefined
  return { items: page.map(({ item }) => item), next: more ? writePosition(last.position) : null }
}

function fitting(
  records: readonly (ActivityRecord | null)[],
  query: ActivityQuery,
): readonly ActivityRecord[] {
  const fits = matcher(query)
  return records.filter((item) => item !== null).filter((item) => fits(traitsOf(item)))
}
