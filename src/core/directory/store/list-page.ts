import { invalid } from '../../base/errors.ts'
import { MalformedJsonError, readJson } from '../../base/json.ts'
import type { SchemaOf } from '../../base/schema.ts'
import { estimatedLength } from '../../model/json-pieces.ts'
import type { Key, KvEntry } from '../../store/engine.ts'
import type { DirectoryReader } from './directory-reader.ts'

/**
 * Maximum length of the JSON of a page, without the last slice of the page. A page ends when it reaches this
 * length, so it may have fewer items than its limit.
 */
export const pageLengthMax = 4_194_304
/** Number of items in the first slice of a page. */
const firstSlice = 100
/** Approximate length of the JSON of each further slice. */
const sliceLength = 262_144

/** The part of a listing that the caller requests. */
export interface PageRange {
  /** Id of the last item of the previous page; undefined for the first page. */
  readonly after: string | undefined
  /** Maximum number of items; at least 1. */
  readonly limit: number
}

export interface ListPage<Item> {
  readonly items: readonly Item[]
  /** Position after which the next page starts; null if there is no further page. */
  readonly next: string | null
}

/**
 * Parses the position in a page token. For listings whose position is JSON.
 * @throws ApiError INVALID_ARGUMENT if the position is malformed
 */
export function readPagePosition<T>(schema: SchemaOf<T>, after: string): T {
  try {
    return readJson(schema, after)
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    const message = 'pageToken does not belong to this query; start again without it'
    throw Object.assign(invalid('request/page-token', message), { cause })
  }
}

/** Returns the entries directly under `prefix`, sorted by their ids. */
export async function listEntries(
  reader: DirectoryReader,
  prefix: Key,
  { after, limit }: PageRange,
): Promise<ListPage<KvEntry>> {
  const from = after === undefined ? {} : { after: [...prefix, after] }
  const entries = await reader.scan({ prefix, limit: limit + 1, ...from })
  const items = entries.slice(0, limit)
  return { items, next: entries.length > limit ? (items.at(-1)?.key.at(-1) ?? null) : null }
}

/**
 * Reads a page in several slices, so that a page of large records needs only limited memory.
 * @param list returns the items of a range; it may return fewer items than the limit of the range
 */
export async function listSlices<Item>(
  list: (range: PageRange) => Promise<ListPage<Item>>,
  { after, limit }: PageRange,
): Promise<ListPage<Item>> {
  const items: Item[] = []
  let [left, length, size] = [limit, 0, firstSlice]
  for (let from = after; ; ) {
    const slice = await list({ after: from, limit: Math.min(left, size) })
    items.push(...slice.items)
    left -= size
    length += slice.items.reduce((sum, item) => sum + estimatedLength(item), 0)
    if (slice.next === null || left <= 0 || length >= pageLengthMax) return { items, next: slice.next }
    from = slice.next
    size = Math.max(1, Math.floor((sliceLength * items.length) / Math.max(1, length)))
  }
}
