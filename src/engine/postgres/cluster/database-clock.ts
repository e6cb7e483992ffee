import type { Clock } from '../../../clock.ts'

/** The clock for stored times. */
export interface StoreClock extends Clock {
  /** Converts a time of the process's own clock to this clock. Both are epoch milliseconds. */
  of(moment: number): number
}

/** Returns the clock of a single process, which is the process's own clock. */
export const localTime = (clock: Clock): StoreClock => ({
  now: () => clock.now(),
  after: (ms, fn) => clock.after(ms, fn),
  of: (moment) => moment,
})

/**
 * The clock of the database. With this clock, nodes whose own clocks differ agree on the ends of leases and
 * the due times of jobs.
 */
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

  /**
   * Starts a measurement. Returns a function; call it with a time that the database returned after the start.
   */
  measuring(): (read: number) => void {
    const from = this.#own.now()
    return (read) => {
      const to = this.#own.now()
      const aheadMs = Math.round(read - (from + to) / 2)
      // If the difference is smaller than the error of the measurement, the clock stays unchanged, so that
      // the time does not jump.
      if (Math.abs(aheadMs - this.#aheadMs) > (to - from) / 2) this.#aheadMs = aheadMs
    }
  }
}
