import { setImmediate as nextTick } from 'node:timers/promises'
import { ApiError } from '../../core/base/errors.ts'
import { KeyedMutex } from '../../core/base/keyed-mutex.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import {
  type FeedEntry,
  type FeedEvent,
  type FeedState,
  feedEntryType,
  feedStateType,
  feedKeys as keys,
  numberIn,
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
  /** Number of events that were read to find these ones. */
  readonly scanned: number
}

/** Maximum number of entries of one read of the store. It is low, because an event may have 256 KB. */
const chunkMax = 20

/** A place in a feed, as a cursor contains it. */
interface CursorPlace {
  readonly generation: string
  /** Number of the last event before the place; 0: the start of the feed. */
  readonly number: number
  /** The chain of that event; '' at the start of the feed. */
  readonly chain: string
}

const encodeCursor = ({ generation, number, chain }: CursorPlace): string =>
  Buffer.from(`${generation}.${number}.${chain}`).toString('base64url')

/** Maximum characters of a cursor in a request. The server itself creates cursors of at most 50 characters. */
export const cursorLengthMax = 100

function decodeCursor(cursor: string): CursorPlace {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, generation, number, chain] = /^([0-9a-f]{8})\.(\d{1,15})\.([0-9a-f]{0,12})$/.exec(text) ?? []
  if (generation === undefined || number === undefined || chain === undefined) throw unknownCursor()
  return { generation, number: Number(number), chain }
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

export const isFeedOff = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'feed/disabled'

/** Reads the feeds of API keys. */
export class FeedReader {
  readonly #store: FeedStore
  readonly #readSlice = new KeyedMutex()

  constructor(store: FeedStore) {
    this.#store = store
  }

  /**
   * Reads the next events. A page may have fewer events than `limit` although more follow, because the number and
   * the bytes of the events that one call reads are limited.
   * @throws ApiError FAILED_PRECONDITION if the feed is off, or if it does not have the events after the cursor
   */
  async read(tenant: Tenant, filter: FeedFilter, start: FeedStart, limit: number): Promise<FeedPage> {
    const read = () => this.#store.read(tenant)
    const reader = read()
    // The state is read before the events. An event that is added later is read by the next call at the latest.
    const state = await reader.get(keys.state, feedStateType)
    if (state?.enabled !== true) throw feedOff()
    let scanned = 0
    // All reads of one feed together take one slice in each tick, so that they do not delay other tenants.
    const readSlice: SliceReader = (readOne) =>
      this.#readSlice.run(keyName([tenant.workspaceId, tenant.apiKey]), async () => {
        await nextTick()
        const slice = await readOne()
        scanned += slice.entries.length
        return slice
      })
    const after = await placeOf(reader, state, start)
    const page = new PageBuilder(state, filter, limit)
    if (after < state.last)
      for await (const [number, entry] of entriesFrom(read, filter.organizationId, after, readSlice))
        if (!page.take(number, entry)) break
    if (typeof start !== 'string') await this.#checkKept(tenant, state, after)
    return { ...page.result(), scanned }
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
  const { generation, number, chain } = decodeCursor(start.cursor)
  if (generation !== state.generation || number < state.trimmed) throw expiredCursor()
  if (number > state.last || (await chainAt(reader, state, number)) !== chain) throw unknownCursor()
  return number
}

/** Returns the chain of an event that the feed has, or of the last removed one. @throws ApiError if it was removed */
async function chainAt(reader: DirectoryReader, state: FeedState, number: number): Promise<string> {
  if (number === state.last) return state.lastChain
  if (number === state.trimmed) return state.trimmedChain
  const entry = await reader.get(keys.entry(number), feedEntryType)
  if (entry === null) throw expiredCursor()
  return entry.chain
}

type NumberedEntry = readonly [number: number, entry: FeedEntry]

interface Slice {
  readonly entries: readonly NumberedEntry[]
  /** Number of the last entry that was read, to continue after it; null if there are no more. */
  readonly last: number | null
}

/** Runs a read of one slice of a feed. */
type SliceReader = (read: () => Promise<Slice>) => Promise<Slice>

/**
 * Reads the entries after a number: all of them, or those of an organization.
 * @param read creates a reader; called for each slice, because a reader caches what it has read
 */
async function* entriesFrom(
  read: () => DirectoryReader,
  organizationId: string | undefined,
  start: number,
  readSlice: SliceReader,
): AsyncIterable<NumberedEntry> {
  const [prefix, keyOf]: readonly [Key, (number: number) => Key] =
    organizationId === undefined
      ? [keys.entries, keys.entry]
      : [keys.of(organizationId), (number) => keys.ofOrganization(organizationId, number)]
  for (let last: number | null = start; last !== null; ) {
    const after = keyOf(last)
    const slice: Slice = await readSlice(async () => {
      const reader = read()
      const found = await reader.scan({ prefix, after, limit: chunkMax })
      const numbers = found.map(({ key }) => numberIn(key))
      const entries =
        organizationId === undefined
          ? found.map((each) => readRecord(feedEntryType, each))
          : await reader.getAll(numbers.map(keys.entry), feedEntryType)
      return {
        entries: numbers.flatMap((number, index): NumberedEntry[] => {
          const entry = entries[index] ?? null
          // The entry may have been removed since the index was read.
          return entry === null ? [] : [[number, entry]]
        }),
        last: found.length < chunkMax ? null : (numbers.at(-1) ?? null),
      }
    })
    yield* slice.entries
    last = slice.last
  }
}

/** Collects the events of a page. */
class PageBuilder {
  readonly #state: FeedState
  readonly #matches: (event: FeedEvent) => boolean
  readonly #limit: number
  readonly #events: FeedItem[] = []
  #bytes = 0
  #scanned = 0
  #scannedBytes = 0
  /** The last entry that was read. */
  #covered = { number: 0, chain: '' }
  /** True if the page ends before the end of the feed. */
  isFull = false

  constructor(state: FeedState, filter: FeedFilter, limit: number) {
    this.#state = state
    this.#matches = matcherOf(filter)
    this.#limit = limit
  }

  /** Adds an entry if it matches. Returns false if the page is full. */
  take(number: number, entry: FeedEntry): boolean {
    const { id, chain, event } = entry
    this.#covered = { number, chain }
    this.#scanned += 1
    const bytes = event === null ? 0 : bytesOf(event)
    this.#scannedBytes += bytes
    if (event !== null && this.#matches(event)) {
      this.#events.push({ ...event, id, cursor: this.#cursorAt(this.#covered) })
      this.#bytes += bytes
    }
    const { pageBytes, scanned, scannedBytes } = feedLimits
    const isEnough = this.#scanned >= scanned || this.#scannedBytes >= scannedBytes
    this.isFull = this.#events.length >= this.#limit || this.#bytes >= pageBytes || isEnough
    return !this.isFull
  }

  /** Returns the page. Its cursor is after the last entry that was read, and after all entries if it is not full. */
  result(): Omit<FeedPage, 'scanned'> {
    const { last, lastChain } = this.#state
    const isCovered = this.isFull || this.#covered.number > last
    const end = isCovered ? this.#covered : { number: last, chain: lastChain }
    return { events: this.#events, cursor: this.#cursorAt(end), isEnd: !this.isFull }
  }

  #cursorAt(place: Omit<CursorPlace, 'generation'>): string {
    return encodeCursor({ generation: this.#state.generation, ...place })
  }
}

/** Approximate bytes of an event in a response. */
const bytesOf = (event: FeedEvent): number => JSON.stringify(event).length

/** Returns whether an event has one of the types and one of the documents of a filter. */
function matcherOf({ types, documentIds }: FeedFilter): (event: FeedEvent) => boolean {
  const [wantedTypes, wantedDocuments] = [setOf(types), setOf(documentIds)]
  return ({ type, documentId }) =>
    wantedTypes?.has(type) !== false &&
    (wantedDocuments === null || (documentId !== null && wantedDocuments.has(documentId)))
}

const setOf = (given: readonly string[] | undefined): ReadonlySet<string> | null =>
  given === undefined ? null : new Set(given)
