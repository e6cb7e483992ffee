import type { Clock } from '../../../core/base/clock.ts'

/** The clock whose times are stored. */
export interface StoreClock extends Clock {
  /** Converts a time of the process's own clock to a time of this clock. Both are epoch milliseconds. */
  of(moment: number): number
}

/** Returns the clock of a single process. It is the process's own clock. */
export const localTime = (clock: Clock): StoreClock => ({
  now: () => clock.now(),
  after: (ms, fn) => clock.after(ms, fn),
  of: (moment) => moment,
})

/**
 * The clock of the database. All nodes use it, so they agree on the ends of leases and the due times of jobs
 * even if their own clocks differ.
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
   * Starts to measure the difference between the two clocks. The caller then reads the time of the database,
   * and passes that time to the returned function.
   */
  measuring(): (read: number) => void {
    const from = this.#own.now()
    return (read) => {
      const to = this.#own.now()
      const aheadMs = Math.round(read - (from + to) / 2)
      // If the difference is smaller than the error of the measurement, this clock stays unchanged, so that
      // its time does not jump.
      if (Math.abs(aheadMs - this.#aheadMs) > (to - from) / 2) this.#aheadMs = aheadMs
    }
  }
}
