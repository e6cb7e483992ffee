import type { GenericSchema } from 'valibot'
import type { Key, KvEntry } from '../../engine/engine.ts'
import { invalid } from '../../errors.ts'
import { MalformedJsonError, readJson } from '../../json.ts'
import { estimatedLength } from '../../model/json-pieces.ts'
import type { DirectoryReader } from './directory-reader.ts'

/**
 * Maximum length of the JSON of one page, without its last slice. A page that reaches this length ends, and
 * may have fewer items than its limit.
 */
export const pageLengthMax = 4_194_304
/** Number of items in the first slice of a page. */
const firstSlice = 100
/** Approximate length of the JSON of a further slice. */
const sliceLength = 262_144

/** The requested part of a listing. */
export interface PageRange {
  /** The last id of the previous page; undefined for the first page. */
  readonly after: string | undefined
  /** Maximum number of items; at least 1. */
  readonly limit: number
}

export interface ListPage<Item> {
  readonly items: readonly Item[]
  /** Position after which the next page starts; null at the end. */
  readonly next: string | null
}

/**
 * Parses the position in a page token, for listings whose position is JSON.
 * @throws ApiError INVALID_ARGUMENT if the position is malformed
 */
export function readPagePosition<T>(schema: GenericSchema<T, unknown>, after: string): T {
  try {
    return readJson(schema, after)
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    const message = 'pageToken does not belong to this query; start again without it'
    throw Object.assign(invalid('request/page-token', message), { cause })
  }
}

/** Returns the entries directly under `prefix`, in the order of their ids. */
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
 * Lists a page in slices, so that a page of large records does not need unlimited memory.
 * @param list returns the items of a range; it may return fewer than the limit of the range
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
