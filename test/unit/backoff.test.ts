import { expect, it } from 'vitest'
import { pauseAfter } from '../../src/core/base/backoff.ts'

it('doubles the pause with each failure up to its maximum, and shortens it by at most its random part', () => {
  const pauses = { firstMs: 200, maxMs: 1_000 }
  const exact = [1, 2, 3, 4, 5_000].map((failures) => pauseAfter({ ...pauses, jitter: 0 }, failures))
  expect(exact).toEqual([200, 400, 800, 1_000, 1_000])
  const random = Array.from({ length: 1_000 }, () => pauseAfter(pauses, 2))
  expect(Math.min(...random)).toBeGreaterThan(200)
  expect(Math.max(...random)).toBeLessThanOrEqual(400)
  expect(new Set(random).size).toBeGreaterThan(900)
})
