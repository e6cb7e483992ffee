import type { Clock } from '../base/clock.ts'
import { errorMessage } from '../base/errors.ts'
import type { Log } from '../base/log.ts'

interface PeriodicTaskOptions {
  readonly clock: Clock
  readonly log: Log
  /** Time in ms from the start to the first run, so that the run does not slow down the start of the server. */
  readonly firstMs: number
  /** Time in ms from the start of a run to the start of the next one. A run must be much shorter. */
  readonly everyMs: number
  /** Log message for a run that has failed. The next run tries again. */
  readonly failure: string
}

/** Runs a task at an interval on this process, until it is stopped. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions
  readonly #run: () => Promise<void>
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #cancel: () => void = () => {}

  constructor(options: PeriodicTaskOptions, run: () => Promise<void>) {
    this.#options = options
    this.#run = run
  }

  /** True after `stop`. A long run should then end early. */
  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  start(): void {
    this.#later(this.#options.firstMs)
  }

  /** Cancels further runs. Resolves when no run is in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    await this.#running
  }

  #later(ms: number): void {
    const { clock, log, everyMs, failure } = this.#options
    this.#cancel = clock.after(ms, () => {
      this.#running = this.#run().catch((err: unknown) => log.warn({ err: errorMessage(err) }, failure))
      this.#later(everyMs)
    })
  }
}
