import { assert, asyncProperty, integer } from 'fast-check'
import { expect, it } from 'vitest'
import { staggerCalls } from '../../../../src/core/sync/sync-server.ts'

it('[CF-10] calls each function once, and calls all of them immediately if there is no time', async () => {
  await assert(
    asyncProperty(integer({ min: 0, max: 50 }), async (count) => {
      const called: number[] = []
      const spreading = staggerCalls(
        Array.from({ length: count }, (_, index) => () => void called.push(index)),
        0,
      )
      expect(called.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index))
      await spreading
    }),
  )
})

it('[CF-10] if there is time, calls the functions in slices, in any order', async () => {
  const called: number[] = []
  const slices: number[] = []
  const endings = Array.from({ length: 100 }, (_, index) => () => void called.push(index))
  const looking = setInterval(() => slices.push(called.length), 1)
  await staggerCalls(endings, 300)
  clearInterval(looking)
  expect(called.toSorted((a, b) => a - b)).toEqual(endings.map((_, index) => index))
  expect(called).not.toEqual(called.toSorted((a, b) => a - b))
  expect(new Set(slices).size).toBeGreaterThan(3)
})
