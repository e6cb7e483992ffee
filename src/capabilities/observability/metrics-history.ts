import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../../core/base/clock.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { Scrape, samplesOf } from '../../core/metrics/scrape.ts'
import { historyNames, metricPoint } from './metric-points.ts'

type HistoryName = (typeof historyNames)[number]

type HistorySample = Readonly<Record<HistoryName, number | null>>

/** Samples at a fixed interval, oldest first. All lists have the same length. */
export interface SampleSeries extends Readonly<Record<HistoryName, (number | null)[]>> {
  readonly intervalSeconds: number
  /** Epoch milliseconds of each sample. */
  readonly timestamps: number[]
}

/** Interval in ms between two samples of the last hour, and the number of kept samples. */
export const recentIntervalMs = 10_000
export const recentMax = 360
/** Interval in ms between two samples of the last 24 hours, and the number of kept samples. */
export const dayIntervalMs = 300_000
export const dayMax = 288

/**
 * The metrics from which samples are computed. Others are not read, because reading the delay of the event loop
 * begins a new measurement of it.
 */
const readNames = [
  'weft_connections',
  'weft_updates_total',
  'weft_commit_latency_seconds',
  'weft_webhook_pending_messages',
]

/**
 * The recent values of some metrics of this process. They are kept in memory, in about 50 KB, until the process
 * stops.
 */
export class MetricsHistory {
  readonly #metrics: Pick<Metrics, 'registry'>
  readonly #clock: Clock
  readonly #recent = new SampleRing(recentIntervalMs, recentMax)
  readonly #day = new SampleRing(dayIntervalMs, dayMax)
  readonly #loopDelay = monitorEventLoopDelay({ resolution: 10 })
  #last: Scrape | null = null
  /** Number of recent samples since the last sample of the day. */
  #sinceDaySample = 0
  #isRunning = false
  #cancel = (): void => {}

  constructor(metrics: Pick<Metrics, 'registry'>, clock: Clock) {
    this.#metrics = metrics
    this.#clock = clock
  }

  /** Takes a sample every 10 s from now on. Does not keep the process alive. */
  start(): void {
    this.#isRunning = true
    this.#loopDelay.enable()
    void this.#scrape().then((scrape) => {
      this.#last = scrape
      this.#sampleLater()
    })
  }

  stop(): void {
    this.#isRunning = false
    this.#cancel()
    this.#loopDelay.disable()
  }

  /** Returns the samples of the last hour, and the samples of the last 24 hours at a longer interval. */
  read(): { readonly recent: SampleSeries; readonly day: SampleSeries } {
    return { recent: this.#recent.read(), day: this.#day.read() }
  }

  #sampleLater(): void {
    if (this.#isRunning) this.#cancel = this.#clock.after(recentIntervalMs, () => void this.#sample())
  }

  async #sample(): Promise<void> {
    const now = await this.#scrape()
    this.#recent.add(now.at, {
      ...metricPoint(now, this.#last),
      ...loopDelays(this.#loopDelay),
      memory: process.memoryUsage.rss(),
    })
    this.#loopDelay.reset()
    this.#last = now
    this.#sinceDaySample += 1
    if (this.#sinceDaySample * recentIntervalMs >= dayIntervalMs) {
      this.#day.add(now.at, this.#recent.summary(this.#sinceDaySample))
      this.#sinceDaySample = 0
    }
    this.#sampleLater()
  }

  async #scrape(): Promise<Scrape> {
    const found = readNames.flatMap((name) => this.#metrics.registry.getSingleMetric(name) ?? [])
    return new Scrape(samplesOf(await Promise.all(found.map((metric) => metric.get()))), this.#clock.now())
  }
}

/** Returns quantiles of the delay in seconds; null if the process has not measured any delay. */
function loopDelays(
  delay: ReturnType<typeof monitorEventLoopDelay>,
): Pick<HistorySample, 'loopP50' | 'loopP99'> {
  if (delay.count === 0) return { loopP50: null, loopP99: null }
  return { loopP50: delay.percentile(50) / 1e9, loopP99: delay.percentile(99) / 1e9 }
}

/** The latest samples at one interval. A new sample replaces the oldest one. */
class SampleRing {
  readonly #intervalMs: number
  readonly #max: number
  readonly #times: Float64Array
  /** The values of each sample, in the order of `historyNames`; NaN for a value that is not known. */
  readonly #values: Float64Array
  #added = 0

  constructor(intervalMs: number, max: number) {
    this.#intervalMs = intervalMs
    this.#max = max
    this.#times = new Float64Array(max)
    this.#values = new Float64Array(max * historyNames.length)
  }

  /**
   * Adds a sample. Removes all others if the clock was set back, because their times would not be in order any
   * longer.
   */
  add(at: number, sample: HistorySample): void {
    const last = this.#slots(1)[0]
    if (last !== undefined && (this.#times[last] ?? 0) >= at) this.#added = 0
    const slot = this.#added % this.#max
    this.#added += 1
    this.#times[slot] = at
    for (const [index, name] of historyNames.entries())
      this.#values[slot * historyNames.length + index] = sample[name] ?? Number.NaN
  }

  /** Returns one sample for the latest `count` samples: the means, and of p99 values the highest. */
  summary(count: number): HistorySample {
    const slots = this.#slots(count)
    return sampleOf((index, name) => {
      const values = slots.map((slot) => this.#valueAt(slot, index)).filter((value) => value !== null)
      if (values.length === 0) return null
      if (name.endsWith('P99')) return Math.max(...values)
      return values.reduce((sum, value) => sum + value, 0) / values.length
    })
  }

  read(): SampleSeries {
    const slots = this.#slots(this.#max)
    return {
      intervalSeconds: this.#intervalMs / 1000,
      timestamps: slots.map((slot) => this.#times[slot] ?? 0),
      ...sampleOf((index) => slots.map((slot) => this.#valueAt(slot, index))),
    }
  }

  /** Returns the places of the latest samples, oldest first. */
  #slots(count: number): readonly number[] {
    const length = Math.min(count, this.#added, this.#max)
    return Array.from({ length }, (_, index) => (this.#added - length + index) % this.#max)
  }

  #valueAt(slot: number, index: number): number | null {
    const value = this.#values[slot * historyNames.length + index] ?? Number.NaN
    return Number.isNaN(value) ? null : value
  }
}

/** Returns an object with the value of each name. */
const sampleOf = <Value>(read: (index: number, name: HistoryName) => Value): Record<HistoryName, Value> =>
  Object.fromEntries(historyNames.map((name, index) => [name, read(index, name)])) as Record<
    HistoryName,
    Value
  >
