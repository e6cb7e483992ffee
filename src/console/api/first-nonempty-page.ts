import type { ApiPage } from './client.ts'

/**
 * Maximum number of empty pages that are read automatically. A search may return empty pages before the page
 * with its first match.
 */
export const emptyPagesMax = 20

/**
 * Reads pages until a page has entries or is the last page. Also stops after too many empty pages; the result
 * then has the token of the next page.
 * @param isWanted called before each page after the first; if it returns false, no more pages are read
 */
export async function firstNonemptyPage<Item>(
  read: (place: object) => Promise<ApiPage<readonly Item[]>>,
  place: object,
  isWanted: () => boolean = () => true,
): Promise<ApiPage<readonly Item[]>> {
  let page = await read(place)
  for (let empty = 1; empty < emptyPagesMax && isWanted(); empty++) {
    if (page.data.length > 0 || page.next === null) break
    page = await read(page.next)
  }
  return page
}
