import { expect, it } from 'vitest'
import type { ApiResponse } from '../../../../src/console/api/client.ts'
import { emptyPagesMax, firstNonemptyPage } from '../../../../src/console/api/first-nonempty-page.ts'

/** A listing whose pages are these; tokens are their numbers. */
function listing(pages: readonly (readonly string[])[]) {
  const asked: (string | null)[] = []
  const read = async (token: string | null): Promise<ApiResponse<readonly string[]>> => {
    asked.push(token)
    const at = Number(token)
    return { data: pages[at] ?? [], ...(at + 1 < pages.length && { pageToken: String(at + 1) }) }
  }
  return { read, asked }
}

it('[CON-20] empty pages are passed over until there is something, or nothing more', async () => {
  const { read, asked } = listing([[], [], ['a'], ['b']])
  expect(await firstNonemptyPage(read, null)).toEqual({ data: ['a'], pageToken: '3' })
  expect(asked).toEqual([null, '1', '2'])
  expect(await firstNonemptyPage(read, '3')).toEqual({ data: ['b'] })
  expect(await firstNonemptyPage(listing([[], []]).read, null)).toEqual({ data: [] })
})

it('[CON-20] after many empty pages the token leads on; who does not want it any more is not read for', async () => {
  const { read, asked } = listing([...Array.from({ length: emptyPagesMax }, () => []), ['far']])
  const answer = await firstNonemptyPage(read, null)
  expect(answer).toEqual({ data: [], pageToken: String(emptyPagesMax) })
  expect(asked.length).toBe(emptyPagesMax)
  expect((await firstNonemptyPage(read, answer.pageToken ?? null)).data).toEqual(['far'])

  const unwanted = listing([[], [], ['a']])
  await firstNonemptyPage(unwanted.read, null, () => false)
  expect(unwanted.asked).toEqual([null])
})
