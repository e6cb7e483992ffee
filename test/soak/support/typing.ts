import { quantile } from '../../../bench/support/report.ts'
import { type Typists, typistsAt } from '../../../bench/support/typists.ts'
import type { ServerProcess } from '../../support/servers/process.ts'

/** Keystrokes per second, like those of a few users. */
const perSecond = 100

export interface Typed {
  /** Time in ms from a keystroke to its arrival at another client, at the median and the 99th percentile. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly keystrokes: number
}

/**
 * Users who type in a document of their own and must not be affected.
 * @param times the number of measurements
 */
export async function neighbors(
  server: Pick<ServerProcess, 'wsUrl' | 'token'>,
  seconds: number,
  times: number,
): Promise<() => Promise<Typed>> {
  const reached = { syncUrl: `${server.wsUrl}/sync/`, token: () => server.token() }
  const typists: Typists = await typistsAt(reached, { perSecond, seconds }, times)
  return async () => {
    const latencies = await typists.type()
    return { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99), keystrokes: latencies.length }
  }
}
