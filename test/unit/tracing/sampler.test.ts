import { expect, it } from 'vitest'
import { UpdateSampler, updateTracesPerSecondMax } from '../../../src/core/tracing/otlp-spans.ts'

const countOf = (sampler: UpdateSampler, times: number): number =>
  Array.from({ length: times }, () => sampler.isSampled()).filter(Boolean).length

it('[OTEL-12] records a bounded number of updates per second', () => {
  const sampler = new UpdateSampler(1)
  const startedAt = performance.now()
  const count = countOf(sampler, 20_000)
  const seconds = Math.floor(performance.now() / 1000) - Math.floor(startedAt / 1000) + 1
  expect(count).toBeGreaterThanOrEqual(updateTracesPerSecondMax)
  expect(count).toBeLessThanOrEqual(updateTracesPerSecondMax * seconds)
})

it('[OTEL-12] records the configured share of the updates', () => {
  expect(countOf(new UpdateSampler(0), 2000)).toBe(0)
  const some = countOf(new UpdateSampler(0.02), 2000)
  expect(some).toBeGreaterThan(0)
  expect(some).toBeLessThan(100)
})
