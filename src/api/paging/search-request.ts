import { type Search, searchFor } from '../../directory/store/search.ts'
import { invalidAt } from '../validator.ts'

/** @param where description of the searched texts @param lookedAtMax maximum items per call */
export const searchRequest = (where: string, lookedAtMax: number) =>
  ({
    search: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description:
        `Only items with this text anywhere in ${where}. Case and Unicode normalization do not matter; spaces do. One ` +
        `call reads at most ${lookedAtMax.toLocaleString('en')} items: a page may have fewer items than requested, or no ` +
        'items. Continue until there is no `pageToken`.',
      examples: ['report'],
    },
  }) as const

/**
 * @param ids name and value of the member that names what is read, with which nothing is looked for
 * @throws ApiError INVALID_ARGUMENT when both are given
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

/** Returns the part of a page token's query for the search; empty without a search, as before searches existed. */
export const searchQuery = (search: string | undefined): readonly unknown[] =>
  search === undefined ? [] : [{ search }]
