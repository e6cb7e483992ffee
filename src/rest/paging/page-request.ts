import { json } from '../../core/base/schema.ts'
import { invalid } from '../../core/base/errors.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import type { TenantContext } from '../operation.ts'
import { type PageTokens, pageTokenLengthMax } from '../page-tokens.ts'

export const pageSizeMax = 1_000

/**
 * Returns the schema of a page size.
 * @param max size of the largest page; a larger number in a request means `max`
 */
export const pageSizeUpTo = <const Default extends number>(max: number, byDefault: Default) =>
  json.integer(`Maximum number of items in the response. A number above ${max} stands for ${max}.`, {
    minimum: 1,
    default: byDefault,
  })

export const pageRequest = {
  pageSize: pageSizeUpTo(pageSizeMax, pageSizeMax),
  pageToken: json.text('`pageToken` of the previous response. All other parameters must stay the same.', {
    maxLength: pageTokenLengthMax,
  }),
} as const

interface PageRequest {
  readonly pageSize?: number
  readonly pageToken?: string
}

/** A page, with the token of the next page unless this is the last page. */
interface PageWithToken<Found extends ListPage<unknown>> {
  readonly found: Found
  readonly token: { readonly pageToken?: string }
}

/**
 * Reads the page that a request selects.
 * @param query all values that determine what the listing contains, except the caller
 * @throws ApiError INVALID_ARGUMENT if the page token belongs to another query
 */
export async function readPage<Found extends ListPage<unknown>>(
  { caller, services }: TenantContext,
  query: readonly unknown[],
  { pageSize = pageSizeMax, ...request }: PageRequest,
  read: (range: PageRange) => Promise<Found>,
): Promise<PageWithToken<Found>> {
  const { workspaceId, apiKey } = caller.tenant
  const agent = caller.level === 'agent' ? [{ agent: caller.identity.userId }] : []
  return readPageWithToken(
    services.pageTokens,
    [workspaceId, apiKey, ...agent, ...query],
    { ...request, pageSize: Math.min(pageSize, pageSizeMax) },
    read,
  )
}

/**
 * Like `readPage`, for callers of any level.
 * @param query must also contain values that identify the caller
 */
export async function readPageWithToken<Found extends ListPage<unknown>>(
  pageTokens: PageTokens,
  query: readonly unknown[],
  { pageSize, pageToken }: Required<Pick<PageRequest, 'pageSize'>> & PageRequest,
  read: (range: PageRange) => Promise<Found>,
): Promise<PageWithToken<Found>> {
  const after = pageToken === undefined ? undefined : pageTokens.open(query, pageToken)
  if (after !== undefined && typeof after !== 'string')
    throw invalid('request/page-token', 'pageToken does not belong to this query; start again without it')
  const found = await read({ after, limit: pageSize })
  return { found, token: found.next === null ? {} : { pageToken: pageTokens.seal(query, found.next) } }
}
