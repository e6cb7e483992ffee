import { invalid } from '../../base/errors.ts'
import { MalformedJsonError, readJson } from '../../base/json.ts'
import type { SchemaOf } from '../../base/schema.ts'
import { nearMiss } from '../../base/text.ts'
import { estimatedLength } from '../../model/json-pieces.ts'
import type { Key, KvEntry } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import type { DirectoryReader } from './directory-reader.ts'

/**
 * Maximum length of the JSON of a page, without the last slice of the page. A page ends when it reaches this
 * length, so it may have fewer items than its limit.
 */
const pageLengthMax = 4_194_304
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

/** Yields the items of each page of a listing. @param limit maximum number of items of a page */
export async function* listingPages<Item>(
  list: (range: PageRange) => Promise<ListPage<Item>>,
  limit: number,
): AsyncGenerator<readonly Item[], void, undefined> {
  for (let after: string | null | undefined; after !== null; ) {
    const { items, next } = await list({ after, limit })
    yield items
    after = next
  }
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

/** Maximum number of ids in each of two reads. With 200, they were two thirds of the work of a call that creates a document. */
const idsMax = 25

/**
 * Returns the id directly under `prefix` of which `id`, which may exist too, is most likely a misspelling; null if
 * there is none. Compares the first ids, and those that follow the first half of `id`. So a misspelling may stay
 * unnoticed among many ids, and the work is limited.
 */
export async function nearMissAmong(
  reader: DirectoryReader,
  prefix: Key,
  id: string,
): Promise<string | null> {
  const points = Array.from(id)
  const half = points.slice(0, points.length >> 1).join('')
  const pages = await Promise.all(
    [undefined, half]
      .filter((after) => after !== '')
      .map((after) => listEntries(reader, prefix, { after, limit: idsMax })),
  )
  const ids = pages.flatMap(({ items }) => items.map(({ key }) => lastSegment(key)))
  return nearMiss(
    id,
    ids.filter((each) => each !== id),
  )
}

/** Maximum number of records in one read. */
const atOnce = 250

/** The id of a listed item and its stored record; `record` is null if it has just been removed. */
export interface StoredItem<R> {
  readonly id: string
  readonly record: R | null
}

/** A search in a listing: the search term, and a limit for the work of one call. */
export interface Search {
  /** Returns whether one of the texts contains the search term. */
  isIn(...texts: readonly string[]): boolean
  /** Maximum number of records that one search call reads. */
  readonly lookedAtMax: number
}

/**
 * Returns a search for `text`. It finds `text` anywhere in other texts, independent of upper and lower case
 * and of Unicode normalization.
 */
export function searchFor(text: string, lookedAtMax: number): Search {
  const wanted = plain(text)
  return { isIn: (...texts) => texts.some((each) => plain(each).includes(wanted)), lookedAtMax }
}

/**
 * Converts a text to a form in which texts can be compared. `toLowerCase` alone is not sufficient: the lower
 * case of a sigma depends on its position in the word, and ß would not match SS.
 */
const plain = (text: string): string => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')

/**
 * Returns the matching items of a listing, in the order of the listing. Reads at most `lookedAtMax` records.
 * A page may therefore have fewer items than requested, or none, although more pages follow. A page also ends
 * when its JSON reaches the maximum length of a page.
 * @param list returns every item of a range, including items that do not match
 */
export async function filterItems<R>(
  list: (range: PageRange) => Promise<ListPage<StoredItem<R>>>,
  { after, limit }: PageRange,
  { lookedAtMax }: Search,
  isFound: (record: R) => boolean,
): Promise<ListPage<StoredItem<R>>> {
  const found: StoredItem<R>[] = []
  let length = 0
  let from = after
  for (let left = lookedAtMax; ; left -= atOnce) {
    const { items, next } = await list({ after: from, limit: Math.min(left, atOnce) })
    for (const [index, item] of items.entries()) {
      if (item.record === null || !isFound(item.record)) continue
      found.push(item)
      length += estimatedLength(item)
      if (found.length === limit || length >= pageLengthMax)
        return { items: found, next: index === items.length - 1 ? next : item.id }
    }
    if (next === null || left <= atOnce) return { items: found, next }
    from = next
  }
}
