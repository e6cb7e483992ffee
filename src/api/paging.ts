import type { Page, PageRange } from '../directory/page.ts'
import { invalid } from '../errors.ts'
import type { Context } from './operation.ts'
import type { PageTokens } from './page-tokens.ts'

const pageSizeMax = 1_000

export const paging = {
  pageSize: {
    type: 'integer',
    minimum: 1,
    maximum: pageSizeMax,
    default: pageSizeMax,
    description: 'How many to answer at most.',
  },
  pageToken: {
    type: 'string',
    description:
      'From the answer before, to go on where it ended; everything else has to be as it was there.',
  },
} as const

interface PageRequest {
  readonly pageSize?: number
  readonly pageToken?: string
}

/** A page and, unless it is the last, the token of the next. */
export interface SealedPage<Found extends Page<unknown>> {
  readonly found: Found
  readonly token: { readonly pageToken?: string }
}

/**
 * Reads the page that a request asks for.
 * @param query names the listing, and everything that decides what is in it, but for the caller
 * @throws ApiError INVALID_ARGUMENT when the page token is of another query
 */
export async function readPage<Found extends Page<unknown>>(
  { caller, services }: Context,
  query: readonly unknown[],
  { pageSize = pageSizeMax, ...request }: PageRequest,
  read: (range: PageRange) => Promise<Found>,
): Promise<SealedPage<Found>> {
  const { workspaceId, apiKey } = caller.tenant
  return readSealed(services.pageTokens, [workspaceId, apiKey, ...query], { pageSize, ...request }, read)
}

/** Like `readPage`. @param query names the caller, too */
export async function readSealed<Found extends Page<unknown>>(
  pageTokens: PageTokens,
  query: readonly unknown[],
  { pageSize, pageToken }: Required<Pick<PageRequest, 'pageSize'>> & PageRequest,
  read: (range: PageRange) => Promise<Found>,
): Promise<SealedPage<Found>> {
  const after = pageToken === undefined ? undefined : pageTokens.open(query, pageToken)
  if (after !== undefined && typeof after !== 'string') throw invalid('pageToken is not one of this query')
  const found = await read({ after, limit: pageSize })
  return { found, token: found.next === null ? {} : { pageToken: pageTokens.seal(query, found.next) } }
}
