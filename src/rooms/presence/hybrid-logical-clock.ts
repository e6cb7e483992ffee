import type { Clock } from '../../clock.ts'

/**
 * Maximum lead of another node's clock that this clock follows. A clock with a wrong date must not move all clocks.
 */
const aheadMsMax = 3_600_000

/** Resolution of the random fraction, within the precision of a number. */
const fractions = 4_096

/**
 * A hybrid logical clock: its timestamps order events on several nodes. A timestamp is in epoch milliseconds and
 * later than all timestamps that this node has issued or received. So an event that depends on another one gets a
 * later timestamp, even if the clocks of the nodes differ.
 */
export class HybridLogicalClock {
  readonly #clock: Clock
  /** A random fraction makes equal timestamps of two nodes rare. */
  readonly #fraction = Math.floor(Math.random() * fractions) / fractions
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): number {
    this.#last = Math.max(Math.floor(this.#last) + 1, this.#clock.now())
    return this.#last + this.#fraction
  }

  /** Follows a timestamp of another node. */
  observe(stamp: number): void {
    if (stamp <= this.#clock.now() + aheadMsMax) this.#last = Math.max(this.#last, stamp)
  }
}
