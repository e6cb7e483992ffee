import type { Progress } from '../storage/storage-error.ts'
import type { OnlineServer } from '../transfer/documents/rest-client.ts'
import { headline, renderReport } from './report-chart.ts'
import { runScenarios, type ScenarioResult } from './run-scenarios.ts'

export interface Benchmark {
  readonly measured: ScenarioResult
  /** Version, machine and disk speed, in one line. */
  readonly headline: string
  /** The figures as SVG. */
  readonly chart: string
}

/**
 * Runs the load test; this is the entry point of the folder. Measures a running server, or starts a server if
 * it is null. Takes about `seconds` seconds.
 * @throws StorageError if the server does not start, cannot be reached or rejects a client
 */
export async function runBenchmark(
  server: OnlineServer | null,
  seconds: number,
  onProgress: Progress,
): Promise<Benchmark> {
  const measured = await runScenarios(server, seconds, onProgress)
  return { measured, headline: headline(measured), chart: renderReport(measured) }
}
