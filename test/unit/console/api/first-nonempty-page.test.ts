import { expect, it } from 'vitest'
import type { ApiPage } from '../../../../src/console/api/client.ts'
import { emptyPagesMax, firstNonemptyPage } from '../../../../src/console/api/first-nonempty-page.ts'

/** A listing with these pages. A place is the number of its page. */
function listing(pages: readonly (readonly string[])[]) {
  const asked: number[] = []
  const read = async (place: object): Promise<ApiPage<readonly string[]>> => {
    const { at = 0 } = place as { readonly at?: number }
    asked.push(at)
    return { data: pages[at] ?? [], next: at + 1 < pages.length ? { at: at + 1 } : null }
  }
  return { read, asked }
}

it('[CON-20] skips empty pages until a page has entries or the listing ends', async () => {
  const { read, asked } = listing([[], [], ['a'], ['b']])
  expect(await firstNonemptyPage(read, {})).toEqual({ data: ['a'], next: { at: 3 } })
  expect(asked).toEqual([0, 1, 2])
  expect(await firstNonemptyPage(read, { at: 3 })).toEqual({ data: ['b'], next: null })
  expect(await firstNonemptyPage(listing([[], []]).read, {})).toEqual({ data: [], next: null })
})

it('[CON-20] returns the next place after many empty pages, and stops when the listing is no longer needed', async () => {
  const { read, asked } = listing([...Array.from({ length: emptyPagesMax }, () => []), ['far']])
  const answer = await firstNonemptyPage(read, {})
  expect(answer).toEqual({ data: [], next: { at: emptyPagesMax } })
  expect(asked.length).toBe(emptyPagesMax)
  expect((await firstNonemptyPage(read, answer.next ?? {})).data).toEqual(['far'])

  const unwanted = listing([[], [], ['a']])
  await firstNonemptyPage(unwanted.read, {}, () => false)
  expect(unwanted.asked).toEqual([0])
})
