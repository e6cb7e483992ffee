import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type LimitName, limitScopes } from './limits.ts'
import { RepeatedEvents } from './repeated-events.ts'

/**
 * Reports limits that are exceeded. Each report is counted in the metrics and logged. `RepeatedEvents`
 * combines the log lines of the same limit and subject. The subject is an address, or the id of a workspace
 * or API key, but never a token.
 */
export class LimitReports {
  readonly #counter: Metrics['limits']
  readonly #events: RepeatedEvents<{ readonly limit: LimitName; readonly who: string }>

  constructor({ clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }) {
    this.#counter = metrics.limits
    this.#events = new RepeatedEvents(clock, ({ limit, who }, times) => {
      const scope = limitScopes[limit]
      const fields = { event: 'limit.exceeded', limit, scope, ...(scope !== 'server' && { who }), times }
      log.warn(fields, 'limit exceeded')
    })
  }

  /**
   * Counts and logs that `who` exceeded `limit`. For limits of the whole server, the log line does not
   * contain `who`.
   */
  exceeded(limit: LimitName, who: string): void {
    this.#counter.inc({ limit })
    const kind = limitScopes[limit] === 'server' ? limit : `${limit} ${who}`
    this.#events.note(kind, { limit, who }, { kind: `${limit} `, event: { limit, who: 'others' } })
  }

  /** Logs the reports that have not been logged yet. */
  end(): void {
    this.#events.end()
  }
}
