import * as s from '../../core/base/schema.ts'
import { type ListPage, type PageRange, readPagePosition } from '../../core/directory/store/list-page.ts'
import { nextOrganization, shownOrganization } from '../../core/directory/user-data/scope-organizations.ts'
import type {
  UserDataScope,
  UserDataSourceList,
  UserDatum,
} from '../../core/directory/user-data/user-data-source.ts'
import type { Kv } from '../../core/store/engine.ts'

/** Maximum number of entries in one read. It is low, because an event of the feed may have 256 KB. */
const chunkSize = 20
/**
 * Maximum number of reads for one page. Reads of sources and reads of the next organization both count. The
 * page ends at this limit, even if it is not full.
 */
const looksMax = 500
/** Maximum size of a page as JSON, in bytes. The entries of the last read may exceed this limit. */
const pageBytesMax = 8_388_608

/** Position in a listing of a user's data. */
interface Position {
  /** Id of the organization of the current source; null if the source belongs to the tenant. */
  readonly organizationId: string | null
  /** Index of the current source in the list of sources. */
  readonly trace: number
  /** Value of `next` in the previous page of the source; null at the start of the source. */
  readonly after: string | null
}

const positionSchema = s.object({
  organizationId: s.orNull(s.string),
  trace: s.number,
  after: s.orNull(s.string),
})

/**
 * Returns a page of all stored data of a user, source by source. Data that exists during the whole listing is
 * listed exactly once, even if other data is added and deleted meanwhile. The work for one page is bounded. A
 * page may therefore have fewer than `limit` items, or no items, although more pages follow.
 * @throws ApiError INVALID_ARGUMENT if the page token is malformed
 */
export async function listUserData(
  kv: Kv,
  traces: UserDataSourceList,
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
    const shown = at.organizationId && (await shownOrganization(kv, place, at.organizationId))
    const found = (page?.items ?? []).map((item) =>
      shown === null ? item : { ...item, organizationId: shown },
    )
    items.push(...found)
    bytes += Buffer.byteLength(JSON.stringify(found))
    at = await following(kv, place, at, page)
  }
  return { items, next: at === null ? null : JSON.stringify(at) }
}

const start: Position = { organizationId: null, trace: 0, after: null }

/** Reads a page of the source at a position. Returns null if the position is after the last source. */
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

/** Returns the position after a page; null at the end of the listing. */
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
