import type { HistogramBucket } from './histogram.ts'

/** A series of Prometheus and its value. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric as `prom-client` returns it. The values of a histogram have the names of its series. */
interface MeasuredMetric {
  readonly name: string
  readonly values: readonly {
    readonly metricName?: string
    readonly labels: object
    readonly value: number
  }[]
}

/** Returns the samples of metrics. Omits values that are not finite, because JSON cannot contain them. */
export const samplesOf = (metrics: readonly MeasuredMetric[]): readonly Sample[] =>
  metrics.flatMap(({ name, values }) =>
    values.flatMap(({ metricName = name, labels, value }) =>
      Number.isFinite(value) ? [{ name: metricName, labels: textsOf(labels), value }] : [],
    ),
  )

const textsOf = (labels: object): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))

/** All metrics at one point in time. */
export class Scrape {
  /** Epoch milliseconds. */
  readonly at: number
  readonly #samples: readonly Sample[]

  constructor(samples: readonly Sample[], at: number) {
    this.#samples = samples
    this.at = at
  }

  /** Returns the sum of all series with this name; null if there are none. */
  sum(name: string): number | null {
    const samples = this.#named(name)
    return samples.length === 0 ? null : samples.reduce((all, { value }) => all + value, 0)
  }

  /** Returns the values of the series with this name, by the value of one label. */
  by(name: string, labelName: string): ReadonlyMap<string, number> {
    const values = new Map<string, number>()
    for (const { labels, value } of this.#named(name)) {
      const key = labels[labelName]
      if (key !== undefined) values.set(key, (values.get(key) ?? 0) + value)
    }
    return values
  }

  /**
   * Returns the buckets of a histogram, ordered by bound. A bucket has its upper bound, and the number of
   * values up to this bound.
   */
  buckets(name: string): readonly HistogramBucket[] {
    return [...this.by(`${name}_bucket`, 'le')]
      .map(([bound, count]) => ({
        bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
        count,
      }))
      .sort((one, other) => one.bound - other.bound)
  }

  #named(name: string): readonly Sample[] {
    return this.#samples.filter((sample) => sample.name === name)
  }
}
