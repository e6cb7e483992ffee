import type { TenantCaller, WorkspaceCaller } from '../../core/access/credentials/authenticator.ts'
import { invalid } from '../../core/base/errors.ts'
import { json } from '../../core/base/schema.ts'
import {
  type ListPage,
  type PageRange,
  type Search,
  searchFor,
} from '../../core/directory/store/list-page.ts'
import { pageTokenLengthMax } from '../page-tokens.ts'
import type { Services } from '../services.ts'
import { invalidAt } from '../validator.ts'

/**
 * Returns the request member for a search.
 * @param where description of the searched texts
 * @param lookedAtMax maximum number of items that one call reads
 */
export const searchRequest = (where: string, lookedAtMax: number) =>
  ({
    search: json.text(
      `Only items with this text anywhere in ${where}. Case and Unicode normalization do not matter; spaces do. One ` +
        `call reads at most ${lookedAtMax.toLocaleString('en')} items: a page may have fewer items than requested, or no ` +
        'items. Continue until there is no `pageToken`.',
      { minLength: 1, maxLength: 200, examples: ['report'] },
    ),
  }) as const

/**
 * Returns the search of a request; undefined if there is no search.
 * @param ids name and value of the request member that selects items by id; a request with this member must
 * not have a search
 * @throws ApiError INVALID_ARGUMENT if both are given
 */
export function parseSearch(
  search: string | undefined,
  [name, ids]: readonly [string, readonly string[] | undefined],
  lookedAtMax: number,
): Search | undefined {
  if (search === undefined) return undefined
  if (ids !== undefined)
    throw invalidAt({ path: '/data/search', message: `must not be given together with ${name}` })
  return searchFor(search, lookedAtMax)
}

/**
 * Returns the part of a page token's query that identifies the search. The part is empty without a search, so
 * that tokens of earlier versions stay valid.
 */
export const searchQuery = (search: string | undefined): readonly unknown[] =>
  search === undefined ? [] : [{ search }]

export const pageSizeMax = 1_000

/**
 * Returns the schema of a page size.
 * @param max size of the largest page; a larger number in a request means `max`
 */
export const pageSizeUpTo = (max: number, byDefault: number) =>
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
  readonly pageSize?: number | undefined
  readonly pageToken?: string | undefined
}

/** A page, with the token of the next page unless this is the last page. */
interface PageWithToken<Found extends ListPage<unknown>> {
  readonly found: Found
  readonly token: { readonly pageToken?: string }
}

interface PageContext {
  readonly caller: TenantCaller | WorkspaceCaller
  readonly services: Pick<Services, 'pageTokens'>
}

/**
 * Reads the page that a request selects.
 * @param query all values that determine what the listing contains, except the caller
 * @param max size of the largest page, and the default size
 * @throws ApiError INVALID_ARGUMENT if the page token belongs to another query
 */
export async function readPage<Found extends ListPage<unknown>>(
  { caller, services: { pageTokens } }: PageContext,
  query: readonly unknown[],
  { pageSize = pageSizeMax, pageToken }: PageRequest,
  read: (range: PageRange) => Promise<Found>,
  max = pageSizeMax,
): Promise<PageWithToken<Found>> {
  const whole = [...partsOf(caller), ...query]
  const after = pageToken === undefined ? undefined : pageTokens.open(whole, pageToken)
  if (after !== undefined && typeof after !== 'string')
    throw invalid('request/page-token', 'pageToken does not belong to this query; start again without it')
  const found = await read({ after, limit: Math.min(pageSize, max) })
  return { found, token: found.next === null ? {} : { pageToken: pageTokens.seal(whole, found.next) } }
}

/**
 * Like `readPage`, but returns the answer of the operation.
 * @param name name of the items in the message
 * @param show returns an item as the response contains it
 */
export async function answerPage<Item, Shown>(
  context: PageContext,
  query: readonly unknown[],
  request: PageRequest,
  read: (range: PageRange) => Promise<ListPage<Item>>,
  [name, show]: readonly [name: string, show: (item: Item) => Shown],
  max = pageSizeMax,
) {
  const { found, token } = await readPage(context, query, request, read, max)
  return { message: `${found.items.length} ${name} found.`, data: found.items.map(show), ...token }
}

/** Returns the values that distinguish a caller from all others. */
function partsOf(caller: PageContext['caller']): readonly unknown[] {
  if (caller.level === 'workspace') return [caller.workspaceId]
  const { workspaceId, apiKey } = caller.tenant
  return [workspaceId, apiKey, ...(caller.level === 'agent' ? [{ agent: caller.identity.userId }] : [])]
}
