import type { ApiResponse } from './client.ts'

/**
 * Maximum number of empty pages that are read automatically. The first match of a search may be on a late
 * page.
 */
export const emptyPagesMax = 20

/**
 * Reads pages until a page has entries, the last page is reached, or too many pages were empty. In the last
 * case, the result has the token to continue.
 * @param isWanted checked before each page after the first; false stops
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
