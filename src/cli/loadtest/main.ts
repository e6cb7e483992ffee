import type { Progress } from '../../capabilities/backups/storage/storage-error.ts'
import type { OnlineServer } from '../../capabilities/transfer/documents/rest-client.ts'
import { runScenarios, type ScenarioResult } from './run-scenarios.ts'
import type { Figure } from './scenario.ts'
import { type BarGroup, barChart, short } from './svg-bar-chart.ts'

const colors: Readonly<Record<Figure['unit'], string>> = { '/s': '#2f7de1', ms: '#d9822b', KB: '#3c9a6b' }

const titles: Readonly<Record<Figure['unit'], readonly [title: string, note: string]>> = {
  '/s': ['Throughput', 'in a second, more is better'],
  ms: ['Times', 'milliseconds, less is better'],
  KB: ['Memory', 'kilobytes, less is better'],
}

/** Renders the figures of all scenarios as a bar chart, grouped by unit. */
function renderReport(measured: ScenarioResult): string {
  const figures = measured.scenarios.flatMap((each) => each.figures)
  const groups = (Object.keys(titles) as Figure['unit'][]).map((unit): BarGroup => {
    const [title, note] = titles[unit]
    const bars = figures
      .filter((figure) => figure.unit === unit && Number.isFinite(figure.value))
      .map(({ label, value }) => ({ label, value, shown: `${short(value)} ${unit}`, color: colors[unit] }))
    return { title, note, bars }
  })
  const place = `${headline(measured)}. Logarithmic scales, one each.`
  return barChart(
    groups.filter(({ bars }) => bars.length > 0),
    'Results of weft bench',
    place,
  )
}

/** Describes the machine and the software of a measurement in one line. */
const headline = ({ version, node, cpu, cores, fsyncMs }: ScenarioResult): string =>
  `Weft ${version}, Node ${node}, ${cores} × ${cpu}, fsync ${fsyncMs.toFixed(2)} ms (p50)`

export interface Benchmark {
  readonly measured: ScenarioResult
  /** Version of Weft, machine, and disk speed, in one line. */
  readonly headline: string
  /** Chart of the figures as SVG. */
  readonly chart: string
}

/**
 * Runs the load test for about `seconds` seconds. This function is the entry point of the folder. If `server`
 * is null, starts a server and measures it. Otherwise, measures the given running server.
 * @throws StorageError if the server does not start, cannot be reached, or rejects a client
 */
export async function runBenchmark(
  server: OnlineServer | null,
  seconds: number,
  onProgress: Progress,
): Promise<Benchmark> {
  const measured = await runScenarios(server, seconds, onProgress)
  return { measured, headline: headline(measured), chart: renderReport(measured) }
}
