import type { Clock } from '../../../clock.ts'

/** The clock for stored times. */
export interface StoreClock extends Clock {
  /** Converts a time of the process's own clock (epoch milliseconds) to this clock. */
  of(moment: number): number
}

/** The clock of a single process: its own. */
export const localTime = (clock: Clock): StoreClock => ({
  now: () => clock.now(),
  after: (ms, fn) => clock.after(ms, fn),
  of: (moment) => moment,
})

/**
 * The clock of the database. Nodes whose own clocks differ agree on the ends of leases and the due times of
 * jobs.
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

  /** Starts a measurement. Pass a time that the database has returned since to the returned function. */
  measuring(): (read: number) => void {
    const from = this.#own.now()
    return (read) => {
      const to = this.#own.now()
      const aheadMs = Math.round(read - (from + to) / 2)
      // If the difference is within the error of the measurement, the clock stays unchanged, so that time
      // does not jump.
      if (Math.abs(aheadMs - this.#aheadMs) > (to - from) / 2) this.#aheadMs = aheadMs
    }
  }
}
