import { json } from '../../core/base/schema.ts'
import { type Search, searchFor } from '../../core/directory/store/list-page.ts'
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
