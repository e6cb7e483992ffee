import type { Clock } from '../../base/clock.ts'

/**
 * Maximum milliseconds by which a timestamp of another node may be ahead of the system clock. This clock
 * ignores later timestamps, so that a single clock with a wrong date does not move all clocks.
 */
const aheadMsMax = 3_600_000

/** Number of different random fractions. The precision of a JavaScript number limits it. */
const fractions = 4_096

/**
 * A hybrid logical clock. Its timestamps order events on several nodes. A timestamp is in epoch milliseconds,
 * and is later than all timestamps that this node has issued or received. An event that depends on another
 * event therefore has a later timestamp, even if the clocks of the nodes differ.
 */
export class HybridLogicalClock {
  readonly #clock: Clock
  /**
   * The fraction of a millisecond in the timestamps of this node. It is random, so that two nodes hardly ever
   * issue equal timestamps.
   */
  readonly #fraction = Math.floor(Math.random() * fractions) / fractions
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): number {
    this.#last = Math.max(Math.floor(this.#last) + 1, this.#clock.now())
    return this.#last + this.#fraction
  }

  /** Moves the clock so that later timestamps of this node follow a timestamp of another node. */
  observe(stamp: number): void {
    if (stamp <= this.#clock.now() + aheadMsMax) this.#last = Math.max(this.#last, stamp)
  }
}
