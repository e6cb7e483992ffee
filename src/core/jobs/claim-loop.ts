import { randomInt } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { runUntraced } from '../base/current-trace.ts'

/**
 * Claims the jobs of a queue at intervals, and after each notice (`wake`). Only one claim runs at a
 * time.
 */
export class ClaimLoop {
  readonly #clock: Clock
  /**
   * Maximum interval in ms at which the loop claims without a notice. Such claims find, for example, the jobs of a
   * process that has died. An interval is at least half as long. Because they are random, the loops of several
   * nodes do not keep step, in which one of them would claim a repeated job each time.
   */
  readonly #pollMs: number
  /** Claims the due jobs once, and starts them. */
  readonly #claim: () => Promise<void>
  /**
   * Called with the errors of `claim`. After an error, the loop claims again at the next notice or interval.
   */
  readonly #failed: (error: unknown) => void
  #claiming: Promise<void> = Promise.resolve()
  #state: 'idle' | 'claiming' | 'claiming, again due' | 'stopped' = 'idle'
  #cancelPoll: () => void = () => {}

  constructor(clock: Clock, pollMs: number, claim: () => Promise<void>, failed: (error: unknown) => void) {
    this.#clock = clock
    this.#pollMs = pollMs
    this.#claim = claim
    this.#failed = failed
  }

  get isStopped(): boolean {
    return this.#state === 'stopped'
  }

  /** Claims immediately, and then at intervals. */
  start(): void {
    this.wake()
    this.#cancelPoll = this.#clock.after(randomInt(this.#pollMs / 2, this.#pollMs), () => this.start())
  }

  /** Claims immediately. If a claim is already in progress, another claim follows. */
  wake(): void {
    if (this.#state === 'claiming') this.#state = 'claiming, again due'
    if (this.#state !== 'idle') return
    this.#state = 'claiming'
    // The loop serves all callers, so it belongs to the trace of none.
    this.#claiming = runUntraced(() => this.#run())
  }

  /** Resolves when no claim is in progress. */
  settled(): Promise<void> {
    return this.#claiming
  }

  /** Stops claiming. Resolves when the claim in progress has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelPoll()
    await this.#claiming
  }

  async #run(): Promise<void> {
    for (;;) {
      try {
        await this.#claim()
      } catch (error) {
        this.#failed(error)
      }
      // The loop must check the state and end in the same tick, so that a later `wake` starts a new claim.
      if (!this.#goesOn()) return
    }
  }

  #goesOn(): boolean {
    const goesOn = this.#state === 'claiming, again due'
    if (this.#state !== 'stopped') this.#state = goesOn ? 'claiming' : 'idle'
    return goesOn
  }
}
