import { quantile } from '../../../bench/support/report.ts'
import { type Typists, typistsAt } from '../../../bench/support/typists.ts'
import type { ServerProcess } from '../../support/servers/process.ts'

/** Keystrokes a second, as of a few people. */
const perSecond = 100

export interface Typed {
  /** Milliseconds from a keystroke to its coming to somebody else, at the 99th percentile. */
  readonly p99Ms: number
  readonly keystrokes: number
}

/** People who type in a document of their own, in which they should notice nothing. @param times how often they are going to */
export async function neighbours(
  server: Pick<ServerProcess, 'wsUrl' | 'token'>,
  seconds: number,
  times: number,
): Promise<() => Promise<Typed>> {
  const reached = { syncUrl: `${server.wsUrl}/sync/`, token: () => server.token() }
  const typists: Typists = await typistsAt(reached, { perSecond, seconds }, times)
  return async () => {
    const latencies = await typists.type()
    return { p99Ms: quantile(latencies, 0.99), keystrokes: latencies.length }
  }
}
