/** A bucket of a cumulative histogram: its upper bound, and the number of values up to this bound. */
export interface HistogramBucket {
  readonly bound: number
  readonly count: number
}

/** Returns the increase of each bucket between two reads; no buckets if there is no earlier read. */
export function bucketsBetween(
  now: readonly HistogramBucket[],
  before: readonly HistogramBucket[] | null,
): readonly HistogramBucket[] {
  if (before === null) return []
  const earlier = new Map(before.map(({ bound, count }) => [bound, count]))
  const hasBegunAnew = now.some(({ bound, count }) => count < (earlier.get(bound) ?? 0))
  return hasBegunAnew
    ? now
    : now.map(({ bound, count }) => ({ bound, count: count - (earlier.get(bound) ?? 0) }))
}

/**
 * Computes a quantile like `histogram_quantile` of Prometheus, which assumes that values are spread evenly
 * within a bucket. Returns null without values. A quantile beyond the last bound is that bound.
 */
export function histogramQuantile(buckets: readonly HistogramBucket[], share: number): number | null {
  const all = buckets.at(-1)?.count ?? 0
  if (all === 0) return null
  const rank = share * all
  const index = buckets.findIndex(({ count }) => count >= rank)
  const { bound, count } = buckets[index] as HistogramBucket
  const { bound: from, count: below } = buckets[index - 1] ?? { bound: 0, count: 0 }
  if (bound === Number.POSITIVE_INFINITY || count === below) return from
  return from + (bound - from) * ((rank - below) / (count - below))
}
