import { expect, it } from 'vitest'
import { historyNames } from '../../src/capabilities/observability/metric-points.ts'
import {
  dayIntervalMs,
  dayMax,
  MetricsHistory,
  recentIntervalMs,
  recentMax,
} from '../../src/capabilities/observability/metrics-history.ts'
import { createMetrics } from '../../src/core/metrics/metrics.ts'
import { HeldClock } from '../support/time/clock.ts'

/** A running history with its clock and its metrics. */
async function started() {
  const [clock, metrics] = [new HeldClock(), createMetrics()]
  const history = new MetricsHistory(metrics, clock)
  const settle = async (): Promise<void> => {
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  history.start()
  await settle()
  const pass = async (ms = recentIntervalMs): Promise<void> => {
    clock.advance(ms)
    await settle()
  }
  return { clock, metrics, history, pass }
}

it('[OPS-45] keeps a sample for each 10 s with the rates and quantiles of that time', async () => {
  const { clock, metrics, history, pass } = await started()
  const start = clock.now()
  metrics.connections.set({ protocol: 'y-websocket' }, 2)
  metrics.connections.set({ protocol: 'hocuspocus' }, 1)
  metrics.webhookPending.set(7)
  metrics.updates.socket += 40
  metrics.updates.rest += 10
  for (let count = 0; count < 100; count += 1) metrics.commitLatencySeconds.observe(0.002)
  await pass()
  metrics.updates.rest += 5
  await pass(20_000)
  const { recent, day } = history.read()
  expect(recent).toMatchObject({
    intervalSeconds: 10,
    timestamps: [start + 10_000, start + 30_000],
    connections: [3, 3],
    updatesPerSecond: [5, 0.25],
    commitP50: [expect.closeTo(0.00175), null],
    webhookQueue: [7, 7],
  })
  for (const memory of recent.memory) expect(memory).toBeGreaterThan(1_000_000)
  expect(day.timestamps).toEqual([])
  history.stop()
})

it('[OPS-45] summarizes 5 minutes by the mean of each value, and by the highest p99', async () => {
  const { metrics, history, pass } = await started()
  for (let count = 0; count < dayIntervalMs / recentIntervalMs; count += 1) {
    metrics.connections.set({ protocol: 'y-websocket' }, count)
    if (count === 3) metrics.commitLatencySeconds.observe(4)
    if (count === 9) metrics.commitLatencySeconds.observe(0.002)
    await pass()
  }
  const { recent, day } = history.read()
  expect(day.timestamps).toEqual([recent.timestamps.at(-1)])
  expect(day.connections).toEqual([14.5])
  expect(day.commitP99).toEqual([Math.max(...recent.commitP99.map((value) => value ?? 0))])
  expect(day.commitP50[0]).toBeLessThan(day.commitP99[0] ?? 0)
  history.stop()
})

it('[OPS-45] keeps the last hour and the last 24 hours only', async () => {
  const { clock, metrics, history, pass } = await started()
  metrics.connections.set({ protocol: 'y-websocket' }, 1)
  const perDaySample = dayIntervalMs / recentIntervalMs
  for (let count = 0; count < (dayMax + 2) * perDaySample; count += 1) await pass()
  const { recent, day } = history.read()
  for (const name of historyNames)
    expect([recent[name].length, day[name].length]).toEqual([recentMax, dayMax])
  expect(recent.timestamps[0]).toBe(clock.now() - (recentMax - 1) * recentIntervalMs)
  expect(day.timestamps[0]).toBe(clock.now() - (dayMax - 1) * dayIntervalMs)
  expect(recent.timestamps).toEqual(recent.timestamps.toSorted((a, b) => a - b))
  history.stop()
})

it('[OPS-45] drops all samples when the clock is set back, and takes no sample after it was stopped', async () => {
  const { clock, history, pass } = await started()
  await pass()
  await pass()
  const now = clock.now.bind(clock)
  clock.now = () => now() - 3_600_000
  await pass()
  expect(history.read().recent).toMatchObject({ timestamps: [clock.now()], updatesPerSecond: [null] })
  history.stop()
  expect(clock.pending).toBe(0)
})
