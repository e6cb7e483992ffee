import type { Clock } from '../clock.ts'

export interface ClaimLoopOptions {
  readonly clock: Clock
  /** Polling interval in ms for jobs without a notice, such as those of a process that died. */
  readonly pollMs: number
  /** Claims jobs once and begins them. */
  readonly claim: () => Promise<void>
  /** Receives the errors of `claim`. The next notice or poll claims again. */
  readonly failed: (error: unknown) => void
}

/** Claims jobs of a queue on a notice and at intervals, one claim after the other. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions
  #claiming: Promise<void> = Promise.resolve()
  #state: 'idle' | 'claiming' | 'claiming, again due' | 'stopped' = 'idle'
  #cancelPoll: () => void = () => {}

  constructor(options: ClaimLoopOptions) {
    this.#options = options
  }

  get isStopped(): boolean {
    return this.#state === 'stopped'
  }

  /** Claims now, and from now on at intervals. */
  start(): void {
    this.wake()
    this.#cancelPoll = this.#options.clock.after(this.#options.pollMs, () => this.start())
  }

  /** Claims now; a claim under way is followed by another one. */
  wake(): void {
    if (this.#state === 'claiming') this.#state = 'claiming, again due'
    if (this.#state !== 'idle') return
    this.#state = 'claiming'
    this.#claiming = this.#run()
  }

  /** Resolves when no claim is under way. */
  settled(): Promise<void> {
    return this.#claiming
  }

  /** Resolves when the claim under way has ended; no other one begins. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelPoll()
    await this.#claiming
  }

  async #run(): Promise<void> {
    for (;;) {
      try {
        await this.#options.claim()
      } catch (error) {
        this.#options.failed(error)
      }
      // In the same tick as the check of the state: a later wakeup starts a new claim.
      if (!this.#goesOn()) return
    }
  }

  #goesOn(): boolean {
    const goesOn = this.#state === 'claiming, again due'
    if (this.#state !== 'stopped') this.#state = goesOn ? 'claiming' : 'idle'
    return goesOn
  }
}
