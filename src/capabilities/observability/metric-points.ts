import { bucketsBetween, histogramQuantile } from '../../core/metrics/histogram.ts'
import type { Scrape } from '../../core/metrics/scrape.ts'

/** Names of the values in a sample of the metrics history. Durations are in seconds, and memory is in bytes. */
export const historyNames = [
  'connections',
  'updatesPerSecond',
  'commitP50',
  'commitP99',
  'loopP50',
  'loopP99',
  'webhookQueue',
  'memory',
] as const

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

/** Returns a point without values: a gap in the lines, or a base for known values. */
export const unknownPoint = (at: number): MetricPoint => ({
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
