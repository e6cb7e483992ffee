import { describe, expect, it } from 'vitest'
import {
  historyNames,
  type MetricPoint,
  metricPoint,
  rate,
} from '../../../src/capabilities/observability/metric-points.ts'
import type { SampleSeries } from '../../../src/capabilities/observability/metrics-history.ts'
import {
  chartSpecs,
  chartSummary,
  currentValues,
  duration,
} from '../../../src/console/overview/chart-specs.ts'
import { appendPoint, keptMs, mergeHistory } from '../../../src/console/overview/point-history.ts'
import { formatCount } from '../../../src/console/ui/format.ts'
import { bucketsBetween, histogramQuantile } from '../../../src/core/metrics/histogram.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { Scrape, samplesOf } from '../../../src/core/metrics/scrape.ts'

describe('metrics', () => {
  it('[CON-3] converts the metrics of the server at one moment to the figures of the overview', async () => {
    const metrics = createMetrics()
    const scrape = async (at: number) => new Scrape(samplesOf(await metrics.registry.getMetricsAsJSON()), at)
    metrics.connections.set({ protocol: 'y-websocket' }, 2)
    metrics.connections.set({ protocol: 'hocuspocus' }, 0)
    metrics.updates.socket += 5
    metrics.commitLatencySeconds.observe(9)
    const before = await scrape(10_000)
    metrics.updates.rest += 10
    for (let count = 0; count < 100; count += 1) metrics.commitLatencySeconds.observe(0.002)
    metrics.documentsOpen.set(3)
    const point = metricPoint(await scrape(12_000), before)
    expect(point).toMatchObject({
      at: 12_000,
      connections: 2,
      documents: 3,
      updatesPerSecond: 5,
      webhookQueue: 0,
    })
    expect(point.protocols).toEqual([['y-websocket', 2]])
    expect(point.commitP50).toBeCloseTo(0.00175)
    expect(point.commitP99).toBeLessThan(0.0025)
    expect(point.memory).toBeGreaterThan(1_000_000)
    expect(point.loopP99).not.toBeNull()
    expect(metricPoint(before, null)).toMatchObject({ updatesPerSecond: null, commitP50: null, nodes: null })
  })
})

describe('rates and quantiles', () => {
  const scrape = (at: number, ...series: readonly [name: string, value: number][]) =>
    new Scrape(
      series.map(([name, value], index) => ({ name, labels: { index: String(index) }, value })),
      at,
    )

  it('[CON-4] treats a counter that decreases as restarted', () => {
    const before = scrape(0, ['n_total', 100], ['n_total', 50])
    expect(rate(scrape(2000, ['n_total', 110], ['n_total', 60]), before, 'n_total')).toBe(10)
    expect(rate(scrape(2000, ['n_total', 8]), before, 'n_total')).toBe(4)
    expect(rate(scrape(2000), before, 'n_total')).toBe(0)
    expect(rate(scrape(0, ['n_total', 8]), before, 'n_total')).toBeNull()
  })

  it('[CON-4] does not compare the metrics of different processes', () => {
    const at = (time: number, start: number, updates: number) =>
      scrape(time, ['process_start_time_seconds', start], ['weft_updates_total', updates])
    const before = at(0, 100, 5)
    expect(metricPoint(at(2000, 100, 7), before).updatesPerSecond).toBe(1)
    expect(metricPoint(at(2000, 200, 70_000), before).updatesPerSecond).toBeNull()
  })

  it('[CON-4] computes quantiles from the observations between two reads', () => {
    const buckets = (...counts: number[]) =>
      counts.map((count, index) => ({ bound: [0.1, 1, Infinity][index] as number, count }))
    expect(histogramQuantile([], 0.5)).toBeNull()
    expect(histogramQuantile(buckets(0, 0, 0), 0.5)).toBeNull()
    expect(histogramQuantile(buckets(10, 10, 10), 0.5)).toBeCloseTo(0.05)
    expect(histogramQuantile(buckets(0, 10, 10), 0.5)).toBeCloseTo(0.55)
    expect(histogramQuantile(buckets(0, 0, 10), 0.99)).toBe(1)
    const since = bucketsBetween(buckets(10, 20, 20), buckets(10, 10, 10))
    expect(since.map(({ count }) => count)).toEqual([0, 10, 10])
    expect(bucketsBetween(buckets(1, 2, 2), buckets(10, 10, 10))).toEqual(buckets(1, 2, 2))
    expect(bucketsBetween(buckets(1, 2, 2), null)).toEqual([])
  })

  it('[CON-4] keeps all points of the last five minutes, one for each 30 s of the last hour, one for each 5 minutes of the last day, and no other points', () => {
    const at = (time: number) => ({ at: time, connections: 1 }) as MetricPoint
    // Points every 10 s for 25 hours, and then every second.
    const [early, late] = [25 * 3_600_000, 25 * 3_600_000 + 400_000]
    const times = [
      ...Array.from({ length: early / 10_000 }, (_, index) => index * 10_000),
      ...Array.from({ length: (late - early) / 1000 }, (_, index) => early + index * 1000),
    ]
    const all = times.reduce<readonly MetricPoint[]>((points, time) => appendPoint(points, at(time)), [])
    const last = times.at(-1) ?? 0
    const [recent, older] = [all.filter((point) => point.at > last - keptMs), all.slice(0, -keptMs / 1000)]
    expect(recent).toHaveLength(keptMs / 1000)
    const hour = older.filter((point) => point.at > last - 3_600_000)
    expect(hour.map((point) => point.at % 30_000)).toEqual(hour.map(() => 0))
    expect(hour).toHaveLength(110)
    const day = older.filter((point) => point.at <= last - 3_600_000)
    expect(day[0]?.at).toBeGreaterThan(last - 24 * 3_600_000)
    expect(day.map((point) => point.at % 300_000)).toEqual(day.map(() => 0))
    expect(day).toHaveLength(276)
  })

  it('[CON-4] shows a pause between points as a gap, and shows no point in the future', () => {
    const at = (time: number) => ({ at: time, connections: 1 }) as MetricPoint
    const kept = [0, 2000, 100_000].reduce<readonly MetricPoint[]>(
      (points, time) => appendPoint(points, at(time)),
      [],
    )
    expect(kept.map((point) => [point.at, point.connections])).toEqual([
      [0, 1],
      [2000, 1],
      [2001, null],
      [100_000, 1],
    ])
    // The clock was set back: points later than now are not shown.
    expect(appendPoint(kept, at(1000)).map(({ at: time }) => time)).toEqual([0, 1000])
  })
})

describe('the history of the server', () => {
  const series = (intervalSeconds: number, timestamps: number[], connections: (number | null)[]) =>
    ({
      ...Object.fromEntries(historyNames.map((name) => [name, timestamps.map(() => null)])),
      intervalSeconds,
      timestamps,
      connections,
    }) as unknown as SampleSeries
  const past = {
    timestamp: 1_000_000,
    recent: series(10, [700_000, 710_000, 900_000], [3, 4, 5]),
    day: series(300, [300_000, 600_000, 705_000], [1, 2, 9]),
  }
  const shown = (points: readonly MetricPoint[]) =>
    points.map(({ at, connections }) => [at, connections] as const)

  it('[CON-73] shows the samples of a day and then those of the last hour, with gaps where samples are missing', () => {
    expect(shown(mergeHistory([], past, 1_000_000))).toEqual([
      [300_000, 1],
      [600_000, 2],
      [700_000, 3],
      [710_000, 4],
      [710_001, null],
      [900_000, 5],
    ])
  })

  it('[CON-73] corrects the times of the samples by the clock of the browser, and keeps the points that the browser has of other times', () => {
    const at = (time: number) => ({ at: time, connections: 7 }) as MetricPoint
    const own = [at(5_000_000), at(5_710_005), at(5_950_000)]
    expect(shown(mergeHistory(own, past, 6_000_000))).toEqual([
      [5_000_000, 7],
      [5_000_001, null],
      [5_300_000, 1],
      [5_600_000, 2],
      [5_700_000, 3],
      [5_710_000, 4],
      [5_710_001, null],
      [5_900_000, 5],
      [5_950_000, 7],
    ])
    expect(mergeHistory(own, { timestamp: 1 }, 2)).toBe(own)
    const empty = series(10, [], [])
    expect(mergeHistory(own, { timestamp: 1, recent: empty, day: empty }, 2)).toBe(own)
  })
})

describe('the overview', () => {
  it('[CON-5] formats figures so that people can read them', () => {
    expect([0.00025, 0.0042, 0.0421, 2.345].map(duration)).toEqual(['0.25 ms', '4.2 ms', '42 ms', '2.3 s'])
    expect([0, 0.25, 12.3, 1234].map(formatCount)).toEqual(['0', '0.3', '12', '1,234'])
  })

  it('[CON-5] describes in words what a chart shows', () => {
    const latency = chartSpecs.find(({ title }) => title === 'Commit latency')
    if (latency === undefined) throw new Error('no such chart')
    const points = [
      { commitP50: 0.002, commitP99: 0.02 },
      { commitP50: 0.001, commitP99: null },
    ] as MetricPoint[]
    expect(currentValues(latency, points.at(-1))).toBe('p50 1 ms, p99 none')
    expect(chartSummary(latency, points)).toBe(
      'Commit latency of the last five minutes. Now p50 1 ms, p99 none. p50: 1 ms to 2 ms; p99: 20 ms to 20 ms.',
    )
    expect(chartSummary(latency, [])).toContain('p50: none; p99: none.')
    const lasting = (ms: number) => chartSummary(latency, [{ at: 0 }, { at: ms }] as MetricPoint[])
    expect(lasting(1_800_000)).toContain('Commit latency of the last 30 minutes.')
    expect(lasting(86_000_000)).toContain('Commit latency of the last 24 hours.')
  })
})
