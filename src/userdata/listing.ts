import * as v from 'valibot'
import { type ListPage, type PageRange, readPagePosition } from '../directory/store/list-page.ts'
import type { Kv } from '../engine/engine.ts'
import { nextOrganization } from './next-organization.ts'
import type { UserDataScope, UserDataSourceList, UserDatum } from './user-data-source.ts'

/** Entries of one read. */
const chunkSize = 50
/** Reads of sources, or of the next organization, for one page. The page ends there, even if it is not full. */
const looksMax = 500
/** Bytes of a page as JSON. The last read may exceed it. */
const pageBytesMax = 8_388_608

/** Position of a listing. */
interface Position {
  /** Organization of the current source; null for the sources of the tenant. */
  readonly organizationId: string | null
  /** Index of the source. */
  readonly trace: number
  /** `next` of the source's previous page; null at its start. */
  readonly after: string | null
}

const positionSchema = v.looseObject({
  organizationId: v.nullable(v.string()),
  trace: v.number(),
  after: v.nullable(v.string()),
})

/**
 * Lists a page of all stored data of a user, source by source. Data that exists during the whole listing is listed
 * exactly once, despite additions and deletions meanwhile. A page may have fewer than `limit` items, or none, and not
 * be the last, because its work is bounded.
 * @throws ApiError INVALID_ARGUMENT if the page token is malformed
 */
export async function listUserData(
  { kv, traces }: { readonly kv: Kv; readonly traces: UserDataSourceList },
  place: UserDataScope,
  userId: string,
  { after, limit }: PageRange,
): Promise<ListPage<UserDatum>> {
  const items: UserDatum[] = []
  let bytes = 0
  let at: Position | null = after === undefined ? start : readPagePosition(positionSchema, after)
  for (let looks = 0; at !== null && looks < looksMax; looks++) {
    if (items.length === limit || bytes >= pageBytesMax) break
    const range = { after: at.after ?? undefined, limit: Math.min(chunkSize, limit - items.length) }
    const page = await readTrace(traces, place, userId, at, range)
    items.push(...(page?.items ?? []))
    bytes += Buffer.byteLength(JSON.stringify(page?.items ?? []))
    at = await following(kv, place, at, page)
  }
  return { items, next: at === null ? null : JSON.stringify(at) }
}

const start: Position = { organizationId: null, trace: 0, after: null }

/** Reads a page of the source; null if there is no such source. */
async function readTrace(
  { ofTenant, ofOrganization }: UserDataSourceList,
  { workspaceId, apiKey, organizationId: asked }: UserDataScope,
  userId: string,
  { organizationId, trace }: Position,
  range: PageRange,
): Promise<ListPage<UserDatum> | null> {
  const tenant = { workspaceId, apiKey }
  if (organizationId === null)
    return (await ofTenant[trace]?.list({ ...tenant, organizationId: asked }, userId, range)) ?? null
  return (await ofOrganization[trace]?.list({ ...tenant, organizationId }, userId, range)) ?? null
}

/** Returns the next position; null at the end. */
async function following(
  kv: Kv,
  place: UserDataScope,
  { organizationId, trace }: Position,
  page: ListPage<UserDatum> | null,
): Promise<Position | null> {
  if (page?.next) return { organizationId, trace, after: page.next }
  if (page !== null) return { organizationId, trace: trace + 1, after: null }
  const next = await nextOrganization(kv, place, organizationId)
  return next === null ? null : { organizationId: next, trace: 0, after: null }
}
