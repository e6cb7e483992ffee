import type { Clock } from '../../clock.ts'

/**
 * Maximum milliseconds by which the clock of another node may be ahead so that this clock follows it. A
 * single clock with a wrong date must not move all clocks.
 */
const aheadMsMax = 3_600_000

/** Number of different random fractions. It is limited by the precision of a number. */
const fractions = 4_096

/**
 * A hybrid logical clock, whose timestamps order events on several nodes. A timestamp is in epoch
 * milliseconds, and later than all timestamps that this node has issued or received. An event that depends on
 * another event therefore gets a later timestamp, even if the clocks of the nodes differ.
 */
export class HybridLogicalClock {
  readonly #clock: Clock
  /** A random fraction that makes it unlikely that two nodes issue equal timestamps. */
  readonly #fraction = Math.floor(Math.random() * fractions) / fractions
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): number {
    this.#last = Math.max(Math.floor(this.#last) + 1, this.#clock.now())
    return this.#last + this.#fraction
  }

  /** Moves the clock after a timestamp of another node. */
  observe(stamp: number): void {
    if (stamp <= this.#clock.now() + aheadMsMax) this.#last = Math.max(this.#last, stamp)
  }
}
