import { MalformedJsonError, readJson } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { CorruptRecordError, type Key, type Kv, type KvEntry } from '../store/engine.ts'
import { type AuditActor, type AuditRecord, auditKeys } from './record.ts'

/** Filters of a listing. A record is listed if it matches all filters that are set. */
export interface AuditQuery {
  readonly operation?: string
  /**
   * Matches records that contain this API key: the key authenticated the call, or it is one of the ids in the
   * call.
   */
  readonly apiKey?: string
  readonly actor?: AuditActor
  /** Id of an agent: matches the calls that it made. */
  readonly agentId?: string
  /** Time in epoch milliseconds. Only later records match. */
  readonly after?: number
  /** Time in epoch milliseconds. Only earlier records match. */
  readonly before?: number
}

export interface AuditRange {
  readonly order: 'asc' | 'desc'
  /** The member `next` of the previous page; undefined for the first page. */
  readonly after: string | undefined
  /** Maximum number of records in the page; at least 1. */
  readonly limit: number
}

export interface AuditPage {
  readonly items: readonly AuditRecord[]
  /** Id of the record after which the next page starts; null if there is no further page. */
  readonly next: string | null
}

/** Number of records that are read at a time. */
const sliceSize = 250
/**
 * Maximum number of records that are read for one page, and their maximum total size in bytes. A page ends
 * when a maximum is reached, even if it is not full.
 */
const lookedAtMax = 5_000
const lookedAtBytesMax = 4_194_304

/**
 * Returns a page of the matching records, sorted by time. The work for one page is limited. Therefore a page
 * may have fewer than `limit` items, or none, although more pages follow.
 * @throws CorruptRecordError if a record is damaged
 */
export async function listRecords(
  kv: Kv,
  part: Key,
  query: AuditQuery,
  range: AuditRange,
): Promise<AuditPage> {
  const items: AuditRecord[] = []
  let last = range.after
  for (let lookedAt = 0, bytes = 0; lookedAt < lookedAtMax && bytes < lookedAtBytesMax; ) {
    const slice = await kv.scan(part, sliceOf(query, range, last))
    for (const entry of slice) {
      const record = recordIn(entry)
      if (isBeyond(record, query, range.order)) return { items, next: null }
      last = record.id
      bytes += entry.value.length
      if (fits(record, query)) items.push(record)
      if (items.length === range.limit) return { items, next: last }
    }
    if (slice.length < sliceSize) return { items, next: null }
    lookedAt += slice.length
  }
  return { items, next: last ?? null }
}

/** Returns the range of the next read. It begins at the start of the listing, or after the record `last`. */
function sliceOf({ after, before }: AuditQuery, { order }: AuditRange, last: string | undefined) {
  const bounds = { prefix: auditKeys.records, limit: sliceSize, reverse: order === 'desc' }
  if (last !== undefined) return { ...bounds, after: auditKeys.record(last) }
  if (order === 'desc') return before === undefined ? bounds : { ...bounds, after: auditKeys.startOf(before) }
  return after === undefined ? bounds : { ...bounds, after: auditKeys.endOf(after) }
}

/**
 * Returns whether the time of this record is outside the requested time, and so are the times of all records
 * that follow it in the listing.
 */
function isBeyond({ at }: AuditRecord, { after, before }: AuditQuery, order: AuditRange['order']): boolean {
  return order === 'desc' ? after !== undefined && at <= after : before !== undefined && at >= before
}

const fits = (record: AuditRecord, { operation, apiKey, actor, agentId }: AuditQuery): boolean =>
  (operation === undefined || record.operation === operation) &&
  (actor === undefined || record.actor === actor) &&
  (agentId === undefined || record.agent?.id === agentId) &&
  (apiKey === undefined || record.apiKey === apiKey || (record.ids.apiKey ?? []).includes(apiKey))

const recordSchema = s.object(
  {
    id: s.string,
    at: s.number,
    operation: s.string,
    // Accepts any string, because a newer version may write actors that this version does not know.
    actor: s.trusted<AuditActor>(s.string),
    apiKey: s.orNull(s.string),
    clientAddress: s.orNull(s.string),
    requestId: s.orNull(s.string),
    outcome: s.string,
    ids: s.map(s.array(s.string)),
    idsLeftOut: s.number,
    idempotencyKeyHash: s.orNull(s.string),
    replayed: s.boolean,
    refusals: s.orNull(s.object({ count: s.number, since: s.number })),
  },
  {
    agent: s.orNull(
      s.object({
        id: s.string,
        model: s.orNull(s.string),
        onBehalfOf: s.orNull(s.string),
      }),
    ),
    tool: s.orNull(s.string),
  },
)

/** Returns the record that an entry contains. @throws CorruptRecordError if the record is damaged */
export function recordIn({ key, value }: KvEntry): AuditRecord {
  try {
    return readJson(recordSchema, value)
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    throw new CorruptRecordError(`audit record ${JSON.stringify(key)} is damaged: ${cause.message}`, {
      cause,
    })
  }
}
