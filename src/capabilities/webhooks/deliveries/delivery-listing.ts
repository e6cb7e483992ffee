import type { DirectoryReader } from '../../../core/directory/store/directory-reader.ts'
import type { Key } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { deliveryKeys as keys } from './delivery-keys.ts'
import { type DeliveryStatus, type MessageRecord, messageRecordType } from './delivery-records.ts'
import type { CursorPage, ListingCursor } from './listing-cursor.ts'

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
