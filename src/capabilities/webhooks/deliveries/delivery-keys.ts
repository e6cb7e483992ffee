import * as s from '../../../core/base/schema.ts'
import type { DirectoryReader } from '../../../core/directory/store/directory-reader.ts'
import { readPayload } from '../../../core/jobs/job-payload.ts'
import type { Job, Key } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import type { RecordType } from '../../../core/store/stored-record.ts'
import type { DeliveryStatus, TargetAddress } from './delivery-records.ts'

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

/** Records of the store whose last key segment is the id of an item. */
interface Listing<R extends object> {
  readonly reader: DirectoryReader
  /** Prefix of the keys of the records, or of the entries of an index. */
  readonly prefix: Key
  /** True: the largest id comes first. */
  readonly reverse: boolean
  /** Returns the key of the record with an id. */
  readonly keyOf: (id: string) => Key
  readonly type: RecordType<R>
}

/** Returns the page at a cursor. The cursor of the first page is null. */
export async function pageAtCursor<R extends object>(
  { reader, prefix, reverse, keyOf, type }: Listing<R>,
  cursor: ListingCursor | null,
  limit: number,
): Promise<CursorPage<R>> {
  const idsFrom = async (id: string | undefined, isBackwards: boolean, limit: number) => {
    const range = { prefix, limit, reverse: reverse !== isBackwards }
    const entries = await reader.scan(id === undefined ? range : { ...range, after: [...prefix, id] })
    return entries.map(({ key }) => lastSegment(key))
  }
  const idsUpTo = async (id: string) => {
    const own = (await reader.get([...prefix, id])) === null ? [] : [id]
    return [...own, ...(await idsFrom(id, true, limit))].slice(0, limit).toReversed()
  }
  const ids =
    cursor !== null && 'upTo' in cursor
      ? await idsUpTo(cursor.upTo)
      : await idsFrom(cursor?.after, false, limit)
  const [first, last] = [ids[0], ids.at(-1)]
  const [records, [before], [after]] = await Promise.all([
    reader.getAll(ids.map(keyOf), type),
    first === undefined ? [] : idsFrom(first, true, 1),
    last === undefined ? [] : idsFrom(last, false, 1),
  ])
  return {
    items: records.filter((record) => record !== null),
    next: after === undefined || last === undefined ? null : { after: last },
    previous: before === undefined ? null : { upTo: before },
  }
}

/** Number of digits that a time has in a key. The times are in epoch milliseconds, up to the year 9999. */
const timeDigits = 15

/** Returns the partition that contains all records of the deliveries to one target. */
export const deliveriesPart = ({ workspaceId, apiKey, targetId }: TargetAddress): Key => [
  'deliveries',
  workspaceId,
  apiKey,
  targetId,
]

export const deliveryKeys = {
  state: ['state'],
  messages: ['messages'],
  message: (id: string): Key => ['messages', id],
  /** The event of a message. The record of an event never changes. */
  event: (id: string): Key => ['events', id],
  /** Index: pending messages, by the time of their next attempt. */
  due: ['due'],
  dueAt: (at: number, id: string): Key => ['due', String(at).padStart(timeDigits, '0'), id],
  /** Index: the messages with a status, by the time of the event. */
  by: (status: DeliveryStatus): Key => ['by', status],
  byStatus: (status: DeliveryStatus, id: string): Key => ['by', status, id],
  /** Index: the messages of an organization. Used when the organization is removed. */
  of: (organizationId: string): Key => ['of', organizationId],
  /** Index: the message of an editor, for the callback `store`. */
  editor: (name: string): Key => ['editors', name],
  ofOrganization: (organizationId: string, id: string): Key => ['of', organizationId, id],
}

/** Returns the time in a key of `dueAt`, in epoch milliseconds. */
export const timeIn = (key: Key): number => Number(key[1])

/** Queue with one job for each target that has due messages. */
export const serveQueue = 'webhooks'
/**
 * Queue with jobs for messages that are due later. When such a job is due, it enqueues a job in `serveQueue`.
 */
export const retryQueue = 'webhooks-retries'
/** Queue with one job for each target whose delivery log must be swept. */
export const sweepQueue = 'webhooks-sweeps'

/** Topic on the bus. An empty notice on this topic means that some target has due messages. */
export const deliveryTopic = 'deliveries'

const nameOf = ({ workspaceId, apiKey, targetId }: TargetAddress): readonly string[] => [
  workspaceId,
  apiKey,
  targetId,
]

/** Returns a name for a target that is unique among all targets. */
export const targetName = (address: TargetAddress): string => JSON.stringify(nameOf(address))

const nameSchema = s.tuple([s.string, s.string, s.string])

/** Returns the target to which the payload of a job refers. @throws MalformedJobError */
export function targetOf(payload: Uint8Array): TargetAddress {
  const [workspaceId, apiKey, targetId] = readPayload(nameSchema, payload)
  return { workspaceId, apiKey, targetId }
}

const jobOf = (queue: string, address: TargetAddress, at: number, id = targetName(address)): Job => ({
  queue,
  id,
  at,
  payload: Buffer.from(targetName(address)),
})

/**
 * Creates a job that sends the due messages of a target.
 * @param now epoch milliseconds. Jobs are sorted by this time, so the target that has waited longest comes
 * first
 */
export const serveJob = (address: TargetAddress, now: number): Job => jobOf(serveQueue, address, now)

/**
 * Creates a job for a time at which messages of a target are due. The id contains the time, because a waiting job is
 * never moved to an earlier time.
 */
export const dueJob = (address: TargetAddress, at: number): Job =>
  jobOf(retryQueue, address, at, JSON.stringify([...nameOf(address), '', at]))

export const sweepJob = (address: TargetAddress, at: number): Job => jobOf(sweepQueue, address, at)
