import * as v from 'valibot'
import { type ListPage, type PageRange, readPagePosition } from '../directory/store/list-page.ts'
import type { Kv } from '../engine/engine.ts'
import { nextOrganization } from './next-organization.ts'
import type { UserDataScope, UserDataSourceList, UserDatum } from './user-data-source.ts'

/** What is read at a time. */
const chunkSize = 50
/** Looks into a trace, or for an organization, for one page: it ends there, though it may not be full. */
const looksMax = 500
/** JSON of one page, but for its last chunk. */
const pageBytesMax = 8_388_608

/** How far a listing has come. */
interface Position {
  /** Whose traces are looked at; null: the tenant's. */
  readonly organizationId: string | null
  /** Which of the traces. */
  readonly trace: number
  /** `next` of the trace's page before; null: it begins. */
  readonly after: string | null
}

const positionSchema = v.looseObject({
  organizationId: v.nullable(v.string()),
  trace: v.number(),
  after: v.nullable(v.string()),
})

/**
 * A page of all that is kept of a user: place by place, so that what is there all the while is listed once, whatever
 * comes and goes. A page may have fewer than `limit`, also none, and yet not be the last: its work is bounded.
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

/** Null when there is no such trace. */
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

/** Null at the end. */
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
