import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { RepeatedEvents } from '../../quota/repeated-events.ts'
import { StoreUnavailableError } from '../../store/engine.ts'

interface Outage {
  readonly reason: string
  /** The log message: the operation that failed because of the outage. */
  readonly message: string
}

/**
 * Logs faults of the server that cause the rejection of a client. While the store is unavailable, all clients
 * cause the same fault: such faults are counted together, and logged without a stack trace.
 */
export class ServerFaults {
  readonly #logger: Log
  readonly #outages: RepeatedEvents<Outage>

  constructor({ logger, clock }: { readonly logger: Log; readonly clock: Clock }) {
    this.#logger = logger
    this.#outages = new RepeatedEvents(clock, ({ reason, message }, times) =>
      logger.warn({ event: 'store.unavailable', reason, times }, message),
    )
  }

  log(error: unknown, message: string): void {
    if (!(error instanceof StoreUnavailableError)) return this.#logger.error({ err: error }, message)
    const outage = { reason: error.message, message }
    this.#outages.note(message, outage, { kind: message, event: outage })
  }

  /** Logs the faults that have not been logged yet. */
  end(): void {
    this.#outages.end()
  }
}
