import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type LimitName, limitScopes } from './limits.ts'
import { RepeatedEvents } from './repeated-events.ts'

interface Exceeded {
  readonly limit: LimitName
  readonly who: string
}

/**
 * Counts each limit that is hit in the metrics, and logs it by limit and subject, as `RepeatedEvents` does.
 * The caller names the subject: an address, or the id of a workspace or of an API key, never a token.
 */
export class LimitReports {
  readonly #counter: Metrics['limits']
  readonly #events: RepeatedEvents<Exceeded>

  constructor({ clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }) {
    this.#counter = metrics.limits
    this.#events = new RepeatedEvents({
      clock,
      write: ({ limit, who }, times) => {
        const scope = limitScopes[limit]
        const fields = { event: 'limit.exceeded', limit, scope, ...(scope !== 'server' && { who }), times }
        log.warn(fields, 'limit exceeded')
      },
    })
  }

  /** Counts and logs that `who` exceeded `limit`. The log does not name `who` for limits of the server. */
  exceeded(limit: LimitName, who: string): void {
    this.#counter.inc({ limit })
    const kind = limitScopes[limit] === 'server' ? limit : `${limit} ${who}`
    this.#events.note(kind, { limit, who }, { kind: `${limit} `, event: { limit, who: 'others' } })
  }

  /** Logs what is pending. */
  end(): void {
    this.#events.end()
  }
}
