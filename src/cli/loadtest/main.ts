import type { Progress } from '../../capabilities/backups/storage/storage-error.ts'
import type { OnlineServer } from '../../capabilities/transfer/documents/rest-client.ts'
import { headline, renderReport } from './report-chart.ts'
import { runScenarios, type ScenarioResult } from './run-scenarios.ts'

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
