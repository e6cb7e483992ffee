import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '../../../core/base/errors.ts'
import type { Log } from '../../../core/base/log.ts'
import { StoreUnavailableError } from '../../../core/store/engine.ts'
import { publicErrorCode } from './postgres-errors.ts'

/**
 * Delays in ms between attempts to reach the database. The first delay is `first`. It doubles after each
 * attempt, up to `longest`.
 */
const pauseMs = { first: 20, longest: 2000 }

/** An outage: the time from the first failure until the database answers again. */
export class Outage {
  readonly #since = performance.now()
  readonly #over: Promise<void>
  #reason: string
  #code: string

  /**
   * Starts the attempts to reach the database.
   * @param reach resolves when the database is available
   * @param onOver called when the outage is over, or when the attempts have ended because of `stop`
   */
  constructor(
    failure: unknown,
    { reach, log, stop }: { reach: () => Promise<void>; log: Log | undefined; stop: AbortSignal },
    onOver: () => void,
  ) {
    this.#reason = errorMessage(failure)
    this.#code = publicErrorCode(failure)
    this.#over = this.#tryAgain(reach, log, stop).then(onOver)
  }

  /** Error code of the outage. It contains neither an address nor a user name. */
  get code(): string {
    return this.#code
  }

  /**
   * Resolves when the outage is over.
   * @throws StoreUnavailableError if the outage is not over within `holdMs`, or if `giveUp` is aborted
   */
  async waited(holdMs: number, giveUp: AbortSignal): Promise<void> {
    const restMs = this.#since + holdMs - performance.now()
    const waiting = new AbortController()
    const signal = AbortSignal.any([waiting.signal, giveUp])
    const late = sleep(Math.max(0, restMs), undefined, { signal }).catch(() => undefined)
    const ended = await Promise.race([this.#over.then(() => 'over' as const), late])
    waiting.abort()
    if (ended !== 'over') throw new StoreUnavailableError(`the database is not available: ${this.#reason}`)
  }

  async #tryAgain(reach: () => Promise<void>, log: Log | undefined, stop: AbortSignal): Promise<void> {
    log?.warn({ reason: this.#reason }, 'the database is not available')
    for (let pause = pauseMs.first; !stop.aborted; pause = Math.min(2 * pause, pauseMs.longest)) {
      try {
        await reach()
        log?.info({ ms: Math.round(performance.now() - this.#since) }, 'the database is available again')
        return
      } catch (error) {
        this.#reason = errorMessage(error)
        this.#code = publicErrorCode(error)
      }
      // Jitter prevents all nodes of a cluster from connecting at the same moment.
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal: stop }).catch(() => undefined)
    }
  }
}
