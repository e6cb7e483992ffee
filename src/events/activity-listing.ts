import type { Key, KvEntry } from '../engine/engine.ts'
import { type ActivityRecord, type ActivityTraits, traitsOf } from './activity.ts'
import {
  activityKeys,
  type Position,
  positionIn,
  positionOf,
  readPosition,
  writePosition,
} from './activity-keys.ts'
import { type ActivityQuery, indexesFor, matcher } from './activity-query.ts'
import { readActivities } from './activity-store.ts'
import { type Chunk, type ChunkRange, compareIn, type Order, readChunk } from './index-chunk.ts'
import { type PartitionReader, storedIn } from './partition.ts'

/** Index entries of one read, if several indexes could answer or entries do not match. */
const chunkSize = 500
/** Index entries that are read for one page. The page ends there even if it is not full. */
const lookedAtMax = 2_000
/** Activities of one read. */
const sliceSize = 250
/** Size of the JSON of one page without its last slice, in bytes. A page also ends there. */
const pageBytesMax = 4_194_304

export interface ActivityRange {
  readonly order: Order
  /** `next` of the previous page; undefined for the first page. */
  readonly after: string | undefined
  /** At least 1. */
  readonly limit: number
}

export interface ListedActivities {
  readonly items: readonly ActivityRecord[]
  /** Position after which the next page starts; null at the end. */
  readonly next: string | null
}

/**
 * Lists matching activities by time. An activity keeps its position, so one that exists throughout is listed
 * exactly once, despite changes between pages. A page may have fewer than `limit` activities, or none, and
 * not be the last one: its work and its size are bounded.
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
  // An activity that was removed or changed after its entry was read is not returned in its old state.
  const items = fitting(records, query)
  const end = records.length < positions.length ? (positions[records.length - 1] ?? null) : until
  return { items, next: end === null ? null : writePosition(end) }
}

/** Returns the activities at the first positions that fit into a page. */
async function readSlices(
  reader: PartitionReader,
  positions: readonly Position[],
): Promise<readonly (ActivityRecord | null)[]> {
  const records: (ActivityRecord | null)[] = []
  for (let bytes = 0; records.length < positions.length && bytes < pageBytesMax; ) {
    const slice = positions.slice(records.length, records.length + sliceSize)
    const found = await reader.getAll<ActivityRecord>(slice.map(activityKeys.activity))
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
    items.push(...slice.map((entry) => storedIn(entry) as ActivityRecord))
    if (entries.length <= size) return { items, next: null }
    bytes += slice.reduce((sum, { value }) => sum + value.length, 0)
    last = positionIn((slice.at(-1) as KvEntry).key)
  }
  return { items, next: last === null ? null : writePosition(last) }
}

interface Found {
  readonly positions: readonly Position[]
  /** The last position that was read; null: the end. */
  readonly until: Position | null
}

/** Continues with the index whose chunk reaches furthest: it has the fewest entries that do not match. */
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
      if (positions.length === limit) return { positions, until: positions.at(-1) as Position }
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
 * Returns the matching ones of the named activities by time.
 * @param ids at most as many as one read allows
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
