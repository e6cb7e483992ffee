import type { DirectoryReader } from '../../../core/directory/store/directory-reader.ts'
import type { Key } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { deliveryKeys as keys } from './delivery-keys.ts'
import { type DeliveryStatus, type MessageRecord, messageRecordType } from './delivery-records.ts'

/** Position of a page in a listing. The item whose id the cursor contains may have been deleted meanwhile. */
export type ListingCursor =
  /** The page starts after this id. */
  | { readonly after: string }
  /** The page ends with this id, or with the last id before it. */
  | { readonly upTo: string }

export interface CursorPage<Item> {
  readonly items: readonly Item[]
  /** Cursor of the next page; null if this page is the last one. */
  readonly next: ListingCursor | null
  /** Cursor of the previous page; null if this page is the first one. */
  readonly previous: ListingCursor | null
}

/**
 * Returns the page at a cursor. If the cursor is null, returns the first page.
 * @param items all items of the listing, sorted by id
 */
export function pageAt<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  cursor: ListingCursor | null,
  limit: number,
): CursorPage<Item> {
  const ids = items.map(idOf)
  const [start, end] = rangeAt(ids, cursor, limit)
  const [before, last] = [ids[start - 1], ids[end - 1] ?? '']
  return {
    items: items.slice(start, end),
    next: end < items.length ? { after: last } : null,
    previous: before === undefined ? null : { upTo: before },
  }
}

function rangeAt(
  ids: readonly string[],
  cursor: ListingCursor | null,
  limit: number,
): readonly [number, number] {
  if (cursor !== null && 'upTo' in cursor) {
    const end = countUpTo(ids, cursor.upTo)
    return [Math.max(0, end - limit), end]
  }
  const start = cursor === null ? 0 : countUpTo(ids, cursor.after)
  return [start, Math.min(ids.length, start + limit)]
}

const countUpTo = (ids: readonly string[], id: string): number => ids.filter((each) => each <= id).length

/** Returns a page of messages, sorted by the time of their events, the newest first. */
export async function listMessages(
  reader: DirectoryReader,
  status: DeliveryStatus | undefined,
  cursor: ListingCursor | null,
  limit: number,
): Promise<CursorPage<MessageRecord>> {
  const index = status === undefined ? keys.messages : keys.by(status)
  const ids = await idsAt(reader, index, cursor, limit)
  const [first, last] = [ids[0], ids.at(-1)]
  const [newer, older] = await Promise.all([
    first === undefined ? [] : idsFrom(reader, index, { after: first, limit: 1 }),
    last === undefined ? [] : idsFrom(reader, index, { after: last, limit: 1, reverse: true }),
  ])
  const records = await reader.getAll(ids.map(keys.message), messageRecordType)
  return {
    items: records.filter((record) => record !== null),
    next: older.length === 0 || last === undefined ? null : { after: last },
    previous: newer[0] === undefined ? null : { upTo: newer[0] },
  }
}

async function idsAt(
  reader: DirectoryReader,
  index: Key,
  cursor: ListingCursor | null,
  limit: number,
): Promise<readonly string[]> {
  if (cursor === null || 'after' in cursor) return idsFrom(reader, index, { ...cursor, limit, reverse: true })
  const [own, newer] = await Promise.all([
    reader.get([...index, cursor.upTo]),
    idsFrom(reader, index, { after: cursor.upTo, limit }),
  ])
  const ids = own === null ? newer : [cursor.upTo, ...newer]
  return ids.slice(0, limit).toReversed()
}

async function idsFrom(
  reader: DirectoryReader,
  index: Key,
  { after, ...range }: { readonly after?: string; readonly limit: number; readonly reverse?: boolean },
): Promise<readonly string[]> {
  const from = after === undefined ? {} : { after: [...index, after] }
  const entries = await reader.scan({ prefix: index, ...range, ...from })
  return entries.map(({ key }) => lastSegment(key))
}
