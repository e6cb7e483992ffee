import { setTimeout as sleep } from 'node:timers/promises'
import { pauseAfter } from '../../../core/base/backoff.ts'
import { errorMessage } from '../../../core/base/errors.ts'
import type { Log } from '../../../core/base/log.ts'
import { StoreUnavailableError } from '../../../core/store/engine.ts'
import { publicErrorCode } from './postgres-errors.ts'

/** Pauses between attempts to reach the database. */
const pauses = { firstMs: 20, maxMs: 2_000 }

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
    for (let failures = 1; !stop.aborted; failures++) {
      try {
        await reach()
        log?.info({ ms: Math.round(performance.now() - this.#since) }, 'the database is available again')
        return
      } catch (error) {
        this.#reason = errorMessage(error)
        this.#code = publicErrorCode(error)
      }
      await sleep(pauseAfter(pauses, failures), undefined, { signal: stop }).catch(() => undefined)
    }
  }
}
