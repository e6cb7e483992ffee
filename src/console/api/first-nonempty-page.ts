import type { ApiResponse } from './client.ts'

/** Maximum number of empty pages to read automatically: the first match of a search may be on a late page. */
export const emptyPagesMax = 20

/**
 * Reads pages until one is not empty, none follows, or too many were empty; in the last case the token continues.
 * @param isWanted checked before each further page
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
