import { expect, it } from 'vitest'
import type { ApiResponse } from '../../../../src/console/api/client.ts'
import { emptyPagesMax, firstNonemptyPage } from '../../../../src/console/api/first-nonempty-page.ts'

/** A listing with these pages. A token is the number of its page. */
function listing(pages: readonly (readonly string[])[]) {
  const asked: (string | null)[] = []
  const read = async (token: string | null): Promise<ApiResponse<readonly string[]>> => {
    asked.push(token)
    const at = Number(token)
    return { data: pages[at] ?? [], ...(at + 1 < pages.length && { pageToken: String(at + 1) }) }
  }
  return { read, asked }
}

it('[CON-20] skips empty pages until a page has entries or the listing ends', async () => {
  const { read, asked } = listing([[], [], ['a'], ['b']])
  expect(await firstNonemptyPage(read, null)).toEqual({ data: ['a'], pageToken: '3' })
  expect(asked).toEqual([null, '1', '2'])
  expect(await firstNonemptyPage(read, '3')).toEqual({ data: ['b'] })
  expect(await firstNonemptyPage(listing([[], []]).read, null)).toEqual({ data: [] })
})

it('[CON-20] returns the page token after many empty pages, and stops when the listing is no longer needed', async () => {
  const { read, asked } = listing([...Array.from({ length: emptyPagesMax }, () => []), ['far']])
  const answer = await firstNonemptyPage(read, null)
  expect(answer).toEqual({ data: [], pageToken: String(emptyPagesMax) })
  expect(asked.length).toBe(emptyPagesMax)
  expect((await firstNonemptyPage(read, answer.pageToken ?? null)).data).toEqual(['far'])

  const unwanted = listing([[], [], ['a']])
  await firstNonemptyPage(unwanted.read, null, () => false)
  expect(unwanted.asked).toEqual([null])
})
