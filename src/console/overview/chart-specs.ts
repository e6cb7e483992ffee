import type { MetricPoint } from '../../capabilities/observability/metric-points.ts'
import { formatBytes, formatCount } from '../ui/format.ts'

type Figure = {
  [Name in keyof MetricPoint]: MetricPoint[Name] extends number | null ? Name : never
}[keyof MetricPoint]

interface ChartLine {
  readonly name: string
  readonly figure: Exclude<Figure, 'at'>
}

export interface ChartSpec {
  readonly title: string
  readonly lines: readonly ChartLine[]
  readonly format: (value: number) => string
  readonly note?: string
  /** Distances between grid lines that are allowed; by default any round number. */
  readonly steps?: readonly number[]
}

/** Distances between grid lines for counts, which are whole numbers. */
const counts = [1, 10, 100, 1000, 10_000, 100_000].flatMap((power) => [power, 2 * power, 5 * power])
const sizes = Array.from({ length: 16 }, (_, power) => 2 ** (20 + power))

/** Formats a duration in seconds. */
export function duration(seconds: number): string {
  if (seconds >= 1) return `${seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`
  const milliseconds = seconds * 1000
  const maximumFractionDigits = milliseconds < 1 ? 2 : milliseconds < 10 ? 1 : 0
  return `${milliseconds.toLocaleString(undefined, { maximumFractionDigits })} ms`
}

/** All charts of the overview, in the order in which they are shown. */
export const chartSpecs: readonly ChartSpec[] = [
  {
    title: 'Connections',
    lines: [{ name: 'open', figure: 'connections' }],
    format: formatCount,
    note: 'Open websockets.',
    steps: counts,
  },
  {
    title: 'Updates per second',
    lines: [{ name: 'accepted', figure: 'updatesPerSecond' }],
    format: formatCount,
    note: 'Document updates by websocket and by REST.',
  },
  {
    title: 'Commit latency',
    lines: [
      { name: 'p50', figure: 'commitP50' },
      { name: 'p99', figure: 'commitP99' },
    ],
    format: duration,
    note: 'Time from the receipt of an update until it is durable; empty without edits.',
  },
  {
    title: 'Event-loop lag',
    lines: [
      { name: 'p50', figure: 'loopP50' },
      { name: 'p99', figure: 'loopP99' },
    ],
    format: duration,
    note: 'Measured with a timer of 10 ms; about 10 ms is idle.',
  },
  {
    title: 'Webhook queue',
    lines: [{ name: 'waiting', figure: 'webhookQueue' }],
    format: formatCount,
    steps: counts,
    note: 'Events waiting for delivery.',
  },
  {
    title: 'Memory',
    lines: [{ name: 'resident', figure: 'memory' }],
    format: formatBytes,
    note: 'Resident memory of the process, as reported by the operating system.',
    steps: sizes,
  },
]

const none = 'none'

/** Returns the current values of a chart as text, for example `p50 2 ms, p99 9 ms`. */
export function currentValues({ lines, format }: ChartSpec, point: MetricPoint | undefined): string {
  const parts = lines.map(({ name, figure }) => {
    const value = point?.[figure] ?? null
    const text = value === null ? none : format(value)
    return lines.length === 1 ? text : `${name} ${text}`
  })
  return parts.join(', ')
}

/** Describes the content of a chart in one sentence. */
export function chartSummary(spec: ChartSpec, points: readonly MetricPoint[]): string {
  const ranges = spec.lines.map(({ name, figure }) => {
    const values = points.map((point) => point[figure]).filter((value) => value !== null)
    if (values.length === 0) return `${name}: ${none}`
    return `${name}: ${spec.format(Math.min(...values))} to ${spec.format(Math.max(...values))}`
  })
  const time = spokenTime((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0))
  return `${spec.title} of the last ${time}. Now ${currentValues(spec, points.at(-1))}. ${ranges.join('; ')}.`
}

function spokenTime(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  if (minutes > 120) return `${Math.ceil(minutes / 60)} hours`
  return minutes > 5 ? `${minutes} minutes` : 'five minutes'
}
