import { type Clock, steadyTime } from '../clock.ts'
import { StoreUnavailable } from '../engine/engine.ts'
import type { Log } from '../log.ts'

/** While the store is away that is in the log this often, in ms, however many come back meanwhile. */
const awayEveryMs = 10_000

/** Logs what has kept somebody out: the store being away seldom, and without a trace, because everybody finds it so. */
export class Troubles {
  readonly #logger: Log
  readonly #time: () => number
  #awayToldAt = Number.NEGATIVE_INFINITY

  constructor({ logger, clock }: { readonly logger: Log; readonly clock: Clock }) {
    this.#logger = logger
    this.#time = steadyTime(clock)
  }

  tell(error: unknown, message: string): void {
    if (!(error instanceof StoreUnavailable)) return this.#logger.error({ err: error }, message)
    const now = this.#time()
    if (now - this.#awayToldAt < awayEveryMs) return
    this.#awayToldAt = now
    this.#logger.warn({ reason: error.message }, message)
  }
}
