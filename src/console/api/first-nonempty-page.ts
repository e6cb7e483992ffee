import type { ApiResponse } from './client.ts'

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
  read: (pageToken: string | null) => Promise<ApiResponse<readonly Item[]>>,
  pageToken: string | null,
  isWanted: () => boolean = () => true,
): Promise<ApiResponse<readonly Item[]>> {
  let answer = await read(pageToken)
  for (let empty = 1; empty < emptyPagesMax && isWanted(); empty++) {
    if (answer.data.length > 0 || answer.pageToken === undefined) break
    answer = await read(answer.pageToken)
  }
  return answer
}
