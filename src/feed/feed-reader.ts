import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import type { Key } from '../engine/engine.ts'
import { readRecord } from '../engine/stored-record.ts'
import { ApiError } from '../errors.ts'
import type { Tenant } from '../model/address.ts'
import { feedKeys as keys, numberIn } from './feed-keys.ts'
import {
  type FeedEntry,
  type FeedEvent,
  type FeedState,
  feedEntryType,
  feedStateType,
} from './feed-records.ts'
import type { FeedStore } from './feed-store.ts'
import { feedLimits } from './limits.ts'

/** Selects events of a feed. Undefined: no restriction. */
export interface FeedFilter {
  readonly organizationId?: string | undefined
  readonly types?: readonly string[] | undefined
  readonly documentIds?: readonly string[] | undefined
}

/** The start of a page: the oldest kept event, the place after the last event, or the place after a cursor. */
export type FeedStart = 'oldest' | 'now' | { readonly cursor: string }

/** An event of a page. */
export interface FeedItem extends FeedEvent {
  readonly id: string
  /** The cursor after this event. */
  readonly cursor: string
}

export interface FeedPage {
  readonly events: readonly FeedItem[]
  /** The cursor after all events that the page covers, also those that do not match the filter. */
  readonly cursor: string
  /** True if the feed has no more matching events now. */
  readonly isEnd: boolean
}

/** Maximum number of entries of one read of the store. */
const chunkMax = 250

/** A place in a feed, as a cursor contains it. */
interface CursorPlace {
  readonly generation: string
  /** Number of the last event before the place; 0: the start of the feed. */
  readonly number: number
  /** The end of the id of that event; '' if the feed no longer has the event. */
  readonly tag: string
}

const tagOf = ({ id }: Pick<FeedEntry, 'id'>): string => id.slice(-8)

const encodeCursor = ({ generation, number, tag }: CursorPlace): string =>
  Buffer.from(`${generation}.${number}.${tag}`).toString('base64url')

/** Maximum characters of a cursor in a request. The server itself creates cursors of at most 50 characters. */
export const cursorLengthMax = 100

function decodeCursor(cursor: string): CursorPlace {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, generation, number, tag] = /^([0-9a-f]{8})\.(\d{1,15})\.([0-9a-z]{0,8})$/.exec(text) ?? []
  if (generation === undefined || number === undefined || tag === undefined) throw unknownCursor()
  return { generation, number: Number(number), tag }
}

const unknownCursor = (): ApiError =>
  new ApiError('feed/cursor-unknown', 'the feed does not know this cursor; begin again with from: "now"')

const expiredCursor = (): ApiError =>
  new ApiError(
    'feed/cursor-expired',
    'the feed no longer has the events after this cursor; begin again with from: "now"',
  )

const feedOff = (): ApiError =>
  new ApiError('feed/disabled', 'the feed is off; enable it with /v2/workspace/feed/update')

/** Reads the feeds of API keys. */
export class FeedReader {
  readonly #store: FeedStore

  constructor(store: FeedStore) {
    this.#store = store
  }

  /**
   * Reads the next events. A page may have fewer events than `limit` although more follow, because the number and
   * the bytes of the events that one call reads are limited.
   * @throws ApiError FAILED_PRECONDITION if the feed is off, or if it does not have the events after the cursor
   */
  async read(tenant: Tenant, filter: FeedFilter, start: FeedStart, limit: number): Promise<FeedPage> {
    const reader = this.#store.read(tenant)
    // The state is read before the events. An event that is added later is read by the next call at the latest.
    const state = await reader.get(keys.state, feedStateType)
    if (state?.enabled !== true) throw feedOff()
    const after = await placeOf(reader, state, start)
    const page = new PageBuilder(state, filter, limit)
    if (after < state.last)
      for await (const [number, entry] of entriesAfter(reader, filter.organizationId, after))
        if (!page.take(number, entry)) break
    if (typeof start !== 'string') await this.#checkKept(tenant, state, after)
    return page.result(await lastPlace(reader, state, page, after))
  }

  /**
   * Checks that no event after a number was removed while the page was read.
   * @throws ApiError FAILED_PRECONDITION
   */
  async #checkKept(tenant: Tenant, { generation }: FeedState, after: number): Promise<void> {
    const now = await this.#store.read(tenant).get(keys.state, feedStateType)
    if (now?.generation !== generation || after < now.trimmed) throw expiredCursor()
  }
}

/** Returns the number of the last event before the start. */
async function placeOf(reader: DirectoryReader, state: FeedState, start: FeedStart): Promise<number> {
  if (start === 'oldest') return state.trimmed
  if (start === 'now') return state.last
  const { generation, number, tag } = decodeCursor(start.cursor)
  if (generation !== state.generation || number < state.trimmed) throw expiredCursor()
  if (number > state.last) throw unknownCursor()
  const entry = await reader.get(keys.entry(number), feedEntryType)
  if (entry === null ? number > state.trimmed : tagOf(entry) !== tag) throw unknownCursor()
  return number
}

/** Returns the place after a page. */
async function lastPlace(
  reader: DirectoryReader,
  { generation, last }: FeedState,
  page: PageBuilder,
  after: number,
): Promise<CursorPlace> {
  const number = page.isFull ? page.covered : Math.max(after, page.covered, last)
  const entry = await reader.get(keys.entry(number), feedEntryType)
  return { generation, number, tag: entry === null ? '' : tagOf(entry) }
}

/** Reads the entries after a number: all of them, or those of an organization. */
async function* entriesAfter(
  reader: DirectoryReader,
  organizationId: string | undefined,
  after: number,
): AsyncIterable<readonly [number: number, entry: FeedEntry]> {
  const [prefix, keyOf]: readonly [Key, (number: number) => Key] =
    organizationId === undefined
      ? [keys.entries, keys.entry]
      : [keys.of(organizationId), (number) => keys.ofOrganization(organizationId, number)]
  for (let last = after; ; ) {
    const found = await reader.scan({ prefix, after: keyOf(last), limit: chunkMax })
    const numbers = found.map(({ key }) => numberIn(key))
    const entries =
      organizationId === undefined
        ? found.map((each) => readRecord(feedEntryType, each))
        : await reader.getAll(numbers.map(keys.entry), feedEntryType)
    for (const [index, number] of numbers.entries()) {
      const entry = entries[index] ?? null
      // The entry may have been removed since the index was read.
      if (entry !== null) yield [number, entry]
    }
    last = numbers.at(-1) ?? last
    if (found.length < chunkMax) return
  }
}

/** Collects the events of a page. */
class PageBuilder {
  readonly #state: FeedState
  readonly #types: ReadonlySet<string> | null
  readonly #documentIds: ReadonlySet<string> | null
  readonly #limit: number
  readonly #events: FeedItem[] = []
  #bytes = 0
  #scanned = 0
  /** Number of the last entry that was read. */
  covered = 0
  /** True if the page ends before the end of the feed. */
  isFull = false

  constructor(state: FeedState, { types, documentIds }: FeedFilter, limit: number) {
    this.#state = state
    this.#types = types === undefined ? null : new Set(types)
    this.#documentIds = documentIds === undefined ? null : new Set(documentIds)
    this.#limit = limit
  }

  /** Adds an entry if it matches. Returns false if the page is full. */
  take(number: number, entry: FeedEntry): boolean {
    this.covered = number
    this.#scanned += 1
    const { id, event } = entry
    if (event !== null && this.#fits(event)) {
      const place = { generation: this.#state.generation, number, tag: tagOf(entry) }
      this.#events.push({ ...event, id, cursor: encodeCursor(place) })
      this.#bytes += JSON.stringify(event).length
    }
    const { pageBytes, scanned } = feedLimits
    this.isFull = this.#events.length >= this.#limit || this.#bytes >= pageBytes || this.#scanned >= scanned
    return !this.isFull
  }

  result(place: CursorPlace): FeedPage {
    return { events: this.#events, cursor: encodeCursor(place), isEnd: !this.isFull }
  }

  #fits({ type, documentId }: FeedEvent): boolean {
    if (this.#types !== null && !this.#types.has(type)) return false
    return this.#documentIds === null || (documentId !== null && this.#documentIds.has(documentId))
  }
}
