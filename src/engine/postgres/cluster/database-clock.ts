import type { Clock } from '../../../clock.ts'

/** Time as what is stored goes by. */
export interface StoreClock extends Clock {
  /** What a moment of this process' own clock (epoch milliseconds) is by this one. */
  of(moment: number): number
}

/** Where one process writes, its own clock will do. */
export const localTime = (clock: Clock): StoreClock => ({
  now: () => clock.now(),
  after: (ms, fn) => clock.after(ms, fn),
  of: (moment) => moment,
})

/** Time of the database: nodes whose own clocks differ agree on when a lease ends and a job is due. */
export class DatabaseClock implements StoreClock {
  readonly #own: Clock
  #aheadMs = 0

  constructor(own: Clock) {
    this.#own = own
  }

  now(): number {
    return this.of(this.#own.now())
  }

  after(ms: number, fn: () => void): () => void {
    return this.#own.after(ms, fn)
  }

  of(moment: number): number {
    return moment + this.#aheadMs
  }

  /** Begins a measurement; what the database has said since is handed to what is returned. */
  measuring(): (read: number) => void {
    const from = this.#own.now()
    return (read) => {
      const to = this.#own.now()
      const aheadMs = Math.round(read - (from + to) / 2)
      // Within what measuring it can be wrong, time had better not jump.
      if (Math.abs(aheadMs - this.#aheadMs) > (to - from) / 2) this.#aheadMs = aheadMs
    }
  }
}
