import { json } from '../../../core/base/schema.ts'
import type { Tenant } from '../../../core/model/address.ts'
import type { OperationContext } from '../../../rest/operation.ts'
import { pageTokenLengthMax } from '../../../rest/page-tokens.ts'
import { pageSizeUpTo } from '../../../rest/paging/page-request.ts'
import type { CursorPage, ListingCursor } from '../deliveries/delivery-keys.ts'

export const iteratorLimits = { max: 250, default: 50 } as const

/** Request members of a listing with pages in both directions. */
export const iteratorRequest = {
  limit: pageSizeUpTo(iteratorLimits.max, iteratorLimits.default),
  iterator: json.text(
    '`iterator` of a response for the next page, or its `prevIterator` for the previous page.',
    { maxLength: pageTokenLengthMax },
  ),
} as const

const cursor = json.orNull(json.text())

/** Response members of a listing with pages in both directions. */
export const iteratorResponse = {
  iterator: { ...cursor, description: 'Cursor of the next page; null on the last page.' },
  prevIterator: { ...cursor, description: 'Cursor of the previous page; null on the first page.' },
  done: json.boolean('True on the last page.'),
} as const

export const iteratorResponseMembers = ['iterator', 'prevIterator', 'done'] as const

interface IteratorRequest {
  readonly limit?: number
  readonly iterator?: string
}

interface Iterated<Item> {
  readonly items: readonly Item[]
  readonly place: {
    readonly iterator: string | null
    readonly prevIterator: string | null
    readonly done: boolean
  }
}

/**
 * Reads the page that a request selects.
 * @param query all values that determine what the listing contains, except the caller
 * @throws ApiError INVALID_ARGUMENT if the iterator belongs to another query
 */
export async function readIteratorPage<Item>(
  { caller, services: { pageTokens } }: OperationContext,
  query: readonly unknown[],
  { limit = iteratorLimits.default, iterator }: IteratorRequest,
  read: (cursor: ListingCursor | null, limit: number) => Promise<CursorPage<Item>>,
): Promise<Iterated<Item>> {
  const sealed = [...ownerOf(caller.tenant), ...query]
  const cursor = iterator === undefined ? null : cursorOf(pageTokens.open(sealed, iterator, 'iterator'))
  const { items, next, previous } = await read(cursor, Math.min(limit, iteratorLimits.max))
  const seal = (at: ListingCursor | null) => (at === null ? null : pageTokens.seal(sealed, at))
  return { items, place: { iterator: seal(next), prevIterator: seal(previous), done: next === null } }
}

const ownerOf = ({ workspaceId, apiKey }: Tenant): readonly string[] => [workspaceId, apiKey]

/** Returns the cursor in a token. The value needs no check, because only this server can encrypt it. */
const cursorOf = (position: unknown): ListingCursor => position as ListingCursor
