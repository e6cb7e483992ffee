import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { MinuteLimiter, RateLimiter } from '../../../src/core/quota/rate-limiter.ts'
import { HeldClock } from '../../support/time/clock.ts'

it('[API-30] accepts a complete burst, and delays the next call by one interval', () => {
  const clock = new HeldClock()
  const limiter = new RateLimiter({ perSecond: 100, burst: 200 }, clock)
  for (let call = 0; call < 200; call += 1) expect(limiter.take('key')).toBe(0)
  expect(limiter.take('key')).toBeCloseTo(10)
  expect(limiter.take('other')).toBe(0)
  clock.advance(10)
  expect(limiter.take('key')).toBe(0)
  expect(limiter.take('key')).toBeGreaterThan(0)
})

it('[API-30] accepts at most the calls that burst and rate allow, and accepts the next call after exactly the returned waiting time', () => {
  const settings = { perSecond: fc.integer({ min: 1, max: 1000 }), burst: fc.integer({ min: 1, max: 50 }) }
  const pauses = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 300 })
  fc.assert(
    fc.property(fc.record(settings), pauses, ({ perSecond, burst }, pausesMs) => {
      const clock = new HeldClock()
      const limiter = new RateLimiter({ perSecond, burst }, clock)
      const taken: number[] = []
      for (const pauseMs of pausesMs) {
        clock.advance(pauseMs)
        const waitMs = limiter.take('key')
        if (waitMs === 0) taken.push(clock.now())
        else {
          // The returned waiting time is sufficient and necessary.
          clock.advance(Math.ceil(waitMs))
          expect(limiter.take('key')).toBe(0)
          taken.push(clock.now())
        }
      }
      taken.forEach((from, index) => {
        taken.slice(index).forEach((to, length) => {
          expect(length + 1).toBeLessThanOrEqual(burst + ((to - from) * perSecond) / 1000 + 1e-6)
        })
      })
    }),
    { numRuns: 100 },
  )
})

it('[API-30] keeps at most ten thousand keys', () => {
  const clock = new HeldClock()
  const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, clock)
  for (let key = 0; key <= 10_000; key += 1) expect(limiter.take(String(key))).toBe(0)
  expect(limiter.take('10000')).toBeGreaterThan(0)
  expect(limiter.take('0')).toBe(0)
})

it('[WS-13] starts the minute of each key at the first call of the key, and keeps ten thousand keys', () => {
  const clock = new HeldClock()
  const limiter = new MinuteLimiter({ perMinute: 2, clock })
  const take = (key = 'key') => limiter.take(key)
  expect([take(), take(), take(), take('other')]).toEqual([true, true, false, true])
  clock.advance(30_000)
  expect(take('late')).toBe(true)
  clock.advance(30_000)
  expect([take(), take(), take()]).toEqual([true, true, false])
  expect([take('late'), take('late')]).toEqual([true, false])
  for (let key = 0; key < 9_998; key += 1) expect(take(String(key))).toBe(true)
  expect(take()).toBe(false)
  expect(take('one more')).toBe(true)
  expect(take('late')).toBe(true)
})

it('[LIM-7] accepts a call that costs more than the remaining budget, and delays the next call until the debt is repaid', () => {
  const clock = new HeldClock()
  const limiter = new RateLimiter({ perSecond: 1000, burst: 5000 }, clock)
  expect(limiter.take('key', 4999)).toBe(0)
  expect(limiter.take('key', 4001)).toBe(0)
  expect(limiter.take('key', 1)).toBeCloseTo(4001)
  clock.advance(4000)
  expect(limiter.take('key', 0)).toBeCloseTo(1)
  clock.advance(1)
  expect(limiter.take('key', 0)).toBe(0)
  limiter.charge('key', 10_001)
  expect(limiter.take('key', 1)).toBeCloseTo(10_001)
  expect(limiter.take('other', 1)).toBe(0)
})

it('[LIM-7] reading the used amount and the waiting time changes neither', () => {
  const clock = new HeldClock()
  const limiter = new RateLimiter({ perSecond: 100, burst: 501 }, clock)
  expect([limiter.usedBy('key'), limiter.waitMs('key')]).toEqual([0, 0])
  limiter.charge('key', 600)
  for (let look = 0; look < 3; look += 1) expect(limiter.waitMs('key')).toBeCloseTo(1_000)
  expect(limiter.usedBy('key')).toBeCloseTo(600)
  clock.advance(500)
  expect(limiter.usedBy('key')).toBeCloseTo(550)
  clock.advance(500)
  expect([limiter.usedBy('key'), limiter.waitMs('key'), limiter.usedBy('other')]).toEqual([500, 0, 0])
})

it('[API-30] when the clock is set back, neither extends the waiting time nor adds budget', () => {
  const clock = new HeldClock()
  const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, clock)
  const minutes = new MinuteLimiter({ perMinute: 1, clock })
  expect([limiter.take('key'), limiter.take('key'), minutes.take('key')]).toEqual([0, 0, true])
  clock.advance(-3_600_000)
  expect(limiter.take('key')).toBeCloseTo(1_000)
  expect(minutes.take('key')).toBe(false)
  clock.advance(1_000)
  expect(limiter.take('key')).toBe(0)
  clock.advance(59_000)
  expect(minutes.take('key')).toBe(true)
})
