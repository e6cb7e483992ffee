import {
  historyNames,
  type MetricPoint,
  unknownPoint,
} from '../../capabilities/observability/metric-points.ts'
import type { MetricsHistoryGetData, MetricsHistoryGetDataRecent } from '../../client/api/operation-types.ts'

/** Time in ms for which all points are kept. */
export const keptMs = 300_000
/** Times in ms for which some older points are kept: the first point of each slot. */
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
const hourSlotMs = 30_000
const daySlotMs = 300_000
/** Time in ms between two points above which the lines have a gap. */
export const pauseMs = 60_000

/** Returns the points of the last day together with a new one. */
export function appendPoint(points: readonly MetricPoint[], point: MetricPoint): readonly MetricPoint[] {
  const earlier = points.filter(({ at }, index) => {
    if (at >= point.at || at <= point.at - dayMs) return false
    if (at > point.at - keptMs) return true
    return isFirstOfSlot(points, index, at > point.at - hourMs ? hourSlotMs : daySlotMs)
  })
  return [...withGap(earlier, point.at, pauseMs), point]
}

/** Returns whether a point is the first one of its slot, or a gap, which must not disappear. */
function isFirstOfSlot(points: readonly MetricPoint[], index: number, slotMs: number): boolean {
  const [before, point] = [points[index - 1], points[index]]
  if (before === undefined || point === undefined || point.connections === null) return true
  return Math.floor(before.at / slotMs) !== Math.floor(point.at / slotMs)
}

/** Adds a gap if the next point is more than `longestMs` after the last one. */
function withGap(points: readonly MetricPoint[], nextAt: number, longestMs: number): readonly MetricPoint[] {
  const last = points.at(-1)
  return last !== undefined && nextAt - last.at > longestMs ? [...points, unknownPoint(last.at + 1)] : points
}

/**
 * Adds the points that the server has kept. They replace the own points of the same time.
 * @param now time at which the response arrived, by the clock of this browser, which may differ from the
 * server's
 */
export function mergeHistory(
  points: readonly MetricPoint[],
  { timestamp, recent, day }: Omit<MetricsHistoryGetData, 'node'>,
  now: number,
): readonly MetricPoint[] {
  if (recent === undefined || day === undefined) return points
  const offset = now - timestamp
  const hour = pointsOf(recent, offset)
  const hourStart = hour[0]?.at ?? Number.POSITIVE_INFINITY
  const kept = [...pointsOf(day, offset).filter(({ at }) => at < hourStart), ...hour]
  const [first, last] = [kept[0], kept.at(-1)]
  if (first === undefined || last === undefined) return points
  const before = points.filter(({ at }) => at < first.at)
  return [...withGap(before, first.at, pauseMs), ...kept, ...points.filter(({ at }) => at > last.at)]
}

/** Returns the samples of a series as points, with a gap where samples are missing. */
function pointsOf(series: MetricsHistoryGetDataRecent, offset: number): readonly MetricPoint[] {
  const longestMs = 2 * series.intervalSeconds * 1000
  return series.timestamps.reduce<readonly MetricPoint[]>((points, timestamp, index) => {
    const at = timestamp + offset
    const values = historyNames.map((name) => [name, series[name][index] ?? null] as const)
    const point = { ...unknownPoint(at), ...Object.fromEntries(values) }
    return [...withGap(points, at, longestMs), point]
  }, [])
}
