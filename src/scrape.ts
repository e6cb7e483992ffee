import type { HistogramBucket } from './histogram.ts'

/** One line of Prometheus' text format: a series and its value. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*$/
const label = /(?<![a-zA-Z0-9_])([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' }

/** Parses a page of metrics; returns the samples by series name. Skips invalid lines. */
export function parseMetrics(text: string): ReadonlyMap<string, readonly Sample[]> {
  const found = new Map<string, Sample[]>()
  for (const each of text.split('\n')) {
    const sample = each.startsWith('#') ? null : sampleOf(each)
    if (sample === null) continue
    const others = found.get(sample.name)
    if (others === undefined) found.set(sample.name, [sample])
    else others.push(sample)
  }
  return found
}

function sampleOf(text: string): Sample | null {
  const [, name, labels = '', value = ''] = line.exec(text) ?? []
  if (name === undefined) return null
  const number = numberOf(value)
  return Number.isNaN(number) ? null : { name, labels: labelsOf(labels), value: number }
}

const numberOf = (text: string): number =>
  text === '+Inf' ? Number.POSITIVE_INFINITY : text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)

function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(label)].map(([, name = '', value = '']) => [
    name,
    value.replace(/\\(.)/g, (whole, escaped: string) => escapes[escaped] ?? whole),
  ])
  return Object.fromEntries(pairs) as Record<string, string>
}

/** All metrics at one point in time. */
export class Scrape {
  /** Epoch milliseconds. */
  readonly at: number
  readonly #series: ReadonlyMap<string, readonly Sample[]>

  constructor(text: string, at: number) {
    this.#series = parseMetrics(text)
    this.at = at
  }

  /** Returns the sum of all series with this name; null if there are none. */
  sum(name: string): number | null {
    const samples = this.#series.get(name)
    return samples === undefined ? null : samples.reduce((all, { value }) => all + value, 0)
  }

  /**
   * Returns the values of the series with this name, by the value of one label.
   * @param wanted labels that a series must have
   */
  by(
    name: string,
    labelName: string,
    wanted: Readonly<Record<string, string>> = {},
  ): ReadonlyMap<string, number> {
    const values = new Map<string, number>()
    for (const { labels, value } of this.#series.get(name) ?? []) {
      if (Object.entries(wanted).some(([each, text]) => labels[each] !== text)) continue
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
      .map(([bound, count]) => ({ bound: numberOf(bound), count }))
      .sort((one, other) => one.bound - other.bound)
  }
}
