import type { Bucket, Scrape } from './prometheus.ts'

/** The known values at one point in time: seconds, bytes and counts. */
export interface MetricPoint {
  /** Epoch milliseconds. */
  readonly at: number
  readonly connections: number | null
  readonly protocols: readonly (readonly [string, number])[]
  readonly documents: number | null
  readonly updatesPerSecond: number | null
  readonly commitP50: number | null
  readonly commitP99: number | null
  readonly loopP50: number | null
  readonly loopP99: number | null
  readonly webhookQueue: number | null
  readonly memory: number | null
  /**
   * Bytes that the server may still write to its disk, and size of the disk; null if the server stores
   * nothing on a disk.
   */
  readonly diskFree: number | null
  readonly diskSize: number | null
  /** Epoch milliseconds of the last complete backup; 0 if there is none, null if unknown. */
  readonly lastBackup: number | null
  /** Number of nodes in the cluster, including this one. */
  readonly nodes: number | null
}

const commitLatency = 'weft_commit_latency_seconds'
const startTime = 'process_start_time_seconds'

/**
 * Returns the values of a scrape.
 * @param before previous scrape, from which rates are computed; null for the first scrape
 */
export function metricPoint(now: Scrape, before: Scrape | null): MetricPoint {
  return pointSince(now, before !== null && isSameProcess(now, before) ? before : null)
}

/**
 * Returns whether both scrapes are from the same process. Behind a load balancer or after a restart, the next
 * scrape may come from another process, which has other counters.
 */
const isSameProcess = (now: Scrape, before: Scrape): boolean => now.sum(startTime) === before.sum(startTime)

function pointSince(now: Scrape, before: Scrape | null): MetricPoint {
  const latency = bucketsBetween(now.buckets(commitLatency), before?.buckets(commitLatency) ?? null)
  return {
    at: now.at,
    // A gauge with labels has no series before the first client connects, and a series of 0 after the last one
    // disconnects.
    connections: now.sum('weft_connections') ?? 0,
    protocols: [...now.by('weft_connections', 'protocol')].filter(([, count]) => count > 0),
    documents: now.sum('weft_rooms_open'),
    updatesPerSecond: before === null ? null : rate(now, before, 'weft_updates_total'),
    commitP50: histogramQuantile(latency, 0.5),
    commitP99: histogramQuantile(latency, 0.99),
    loopP50: now.sum('nodejs_eventloop_lag_p50_seconds'),
    loopP99: now.sum('nodejs_eventloop_lag_p99_seconds'),
    webhookQueue: now.sum('weft_webhook_pending_messages'),
    memory: now.sum('process_resident_memory_bytes'),
    diskFree: now.sum('weft_disk_free_bytes'),
    diskSize: now.sum('weft_disk_size_bytes'),
    lastBackup: milliseconds(now.sum('weft_backup_last_success_timestamp_seconds')),
    nodes: now.sum('weft_nodes'),
  }
}

const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000)

/**
 * Returns the increase of a counter per second. If the counter has decreased, it was reset; then its whole
 * value is the increase.
 */
export function rate(now: Scrape, before: Scrape, name: string): number | null {
  const seconds = (now.at - before.at) / 1000
  if (seconds <= 0) return null
  const [later, earlier] = [now.sum(name) ?? 0, before.sum(name) ?? 0]
  return (later < earlier ? later : later - earlier) / seconds
}

/** Returns the increase of each bucket between two scrapes. */
export function bucketsBetween(now: readonly Bucket[], before: readonly Bucket[] | null): readonly Bucket[] {
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
export function histogramQuantile(buckets: readonly Bucket[], share: number): number | null {
  const all = buckets.at(-1)?.count ?? 0
  if (all === 0) return null
  const rank = share * all
  const index = buckets.findIndex(({ count }) => count >= rank)
  const { bound, count } = buckets[index] as Bucket
  const { bound: from, count: below } = buckets[index - 1] ?? { bound: 0, count: 0 }
  if (bound === Number.POSITIVE_INFINITY || count === below) return from
  return from + (bound - from) * ((rank - below) / (count - below))
}

/** Time in ms for which all points are kept. */
export const keptMs = 300_000
/** Time in ms for which some older points are kept: the first point of each slot. */
const historyMs = 3_600_000
const slotMs = 30_000
/** Time in ms between two points above which the lines have a gap. */
const pauseMs = 60_000

/** Returns the points of the last hour together with a new one. */
export function appendPoint(points: readonly MetricPoint[], point: MetricPoint): readonly MetricPoint[] {
  const earlier = points.filter(({ at }, index) => {
    if (at >= point.at || at <= point.at - historyMs) return false
    return at > point.at - keptMs || isKeptLonger(points, index)
  })
  const last = earlier.at(-1)
  const gap = last !== undefined && point.at - last.at > pauseMs ? [unknownPoint(last.at + 1)] : []
  return [...earlier, ...gap, point]
}

/**
 * Returns whether an older point is kept: the first point of its slot, or a gap, which must not disappear.
 */
function isKeptLonger(points: readonly MetricPoint[], index: number): boolean {
  const [before, point] = [points[index - 1], points[index]]
  if (before === undefined || point === undefined || point.connections === null) return true
  return Math.floor(before.at / slotMs) !== Math.floor(point.at / slotMs)
}

const unknownPoint = (at: number): MetricPoint => ({
  at,
  connections: null,
  protocols: [],
  documents: null,
  updatesPerSecond: null,
  commitP50: null,
  commitP99: null,
  loopP50: null,
  loopP99: null,
  webhookQueue: null,
  memory: null,
  diskFree: null,
  diskSize: null,
  lastBackup: null,
  nodes: null,
})
