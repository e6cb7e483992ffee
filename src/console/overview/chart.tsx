import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { MetricPoint } from '../../capabilities/observability/metric-points.ts'
import { LocalTime } from '../ui/controls.tsx'
import { Table } from '../ui/table.tsx'
import { type ChartSpec, chartSummary, currentValues } from './chart-specs.ts'
import { keptMs } from './point-history.ts'

const height = 150
/** Styles of the lines of a chart. They differ in color and in form. */
const strokes = [
  { color: '--accent', dash: [] },
  { color: '--focus', dash: [5, 4] },
] as const

interface ChartProps {
  readonly spec: ChartSpec
  readonly points: readonly MetricPoint[]
}

/** Shows metrics of at least five minutes as lines, as text and as a table. */
export const Chart = ({ spec, points }: ChartProps) => (
  <figure class="card chart">
    <figcaption>
      <h2>{spec.title}</h2>
      <p class="figure">{currentValues(spec, points.at(-1))}</p>
    </figcaption>
    <Lines spec={spec} points={points} />
    <p class="hint">
      {spec.note}{' '}
      {spec.lines.length > 1 &&
        spec.lines.map(({ name }, index) => <Key key={name} name={name} dashed={index > 0} />)}
    </p>
    <AsTable spec={spec} points={points} />
  </figure>
)

function AsTable(props: ChartProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Figures as a table</summary>
      {isOpen && <Figures {...props} />}
    </details>
  )
}

const Key = ({ name, dashed }: { readonly name: string; readonly dashed: boolean }) => (
  <span class={dashed ? 'key dashed' : 'key'}>{name}</span>
)

function Lines({ spec, points }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(points)
  latest.current = points
  const plot = useRef<uPlot | null>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(spec, element.clientWidth), dataOf(spec, latest.current), element)
    }
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }))
    draw()
    scheme.addEventListener('change', draw)
    resized.observe(element)
    return () => {
      scheme.removeEventListener('change', draw)
      resized.disconnect()
      plot.current?.destroy()
    }
  }, [spec])
  useEffect(() => plot.current?.setData(dataOf(spec, points)), [points])
  return <div ref={place} class="lines" role="img" aria-label={chartSummary(spec, points)} />
}

const dataOf = ({ lines }: ChartSpec, points: readonly MetricPoint[]): uPlot.AlignedData => [
  points.map(({ at }) => at / 1000),
  ...lines.map(({ figure }) => points.map((point) => point[figure])),
]

const colored = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name)

function optionsOf({ lines, format, steps }: ChartSpec, width: number): uPlot.Options {
  const axis = {
    stroke: colored('--quiet'),
    grid: { stroke: colored('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, first, last) => [Math.min(first ?? 0, (last ?? 0) - keptMs / 1000), last ?? 0] },
      // Starts the scale at zero and ends it a little above the maximum. Without values, the line is flat at
      // zero.
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] },
    },
    axes: [
      { ...axis, size: 28, space: 70, values: (_, moments) => moments.map(clock) },
      {
        ...axis,
        size: 64,
        space: 40,
        values: (_, values) => values.map(format),
        ...(steps && { incrs: [...steps] }),
      },
    ],
    series: [
      {},
      ...lines.map((_, index) => {
        const { color, dash } = strokes[index] ?? strokes[0]
        return { stroke: colored(color), width: 2, dash: [...dash], points: { size: 4 } }
      }),
    ],
  }
}

const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const clock = (seconds: number): string => hours.format(seconds * 1000)

/** The table shows every fifth point, so that it covers the same time as the lines. */
const every = 5

function Figures({ spec, points }: ChartProps) {
  const rows = points.filter((_, index) => (points.length - 1 - index) % every === 0).reverse()
  return (
    <Table<MetricPoint>
      caption={`${spec.title}, newest first`}
      items={rows}
      keyOf={({ at }) => String(at)}
      columns={[
        { title: 'Time', cell: ({ at }) => <LocalTime at={at} /> },
        ...spec.lines.map(({ name, figure }) => ({
          title: name,
          numeric: true,
          cell: (point: MetricPoint) => (point[figure] === null ? '–' : spec.format(point[figure])),
        })),
      ]}
    />
  )
}
