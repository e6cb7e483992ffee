import type { Clock } from '../../clock.ts'

/** How far another node's clock may be ahead and still be followed: one that is set to another year must not lead all. */
const aheadMsMax = 3_600_000

/** As many as a time in milliseconds leaves room for. */
const fractions = 4_096

/**
 * Times that order what happens on several nodes: epoch milliseconds, but each is later than all that this node has
 * given or heard of. So what somebody does who knows of something else is later than that, whatever the clocks say.
 */
export class HybridLogicalClock {
  readonly #clock: Clock
  /** Seldom do two nodes have the same: whole numbers would often meet. */
  readonly #fraction = Math.floor(Math.random() * fractions) / fractions
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): number {
    this.#last = Math.max(Math.floor(this.#last) + 1, this.#clock.now())
    return this.#last + this.#fraction
  }

  /** Another node has got so far. */
  observe(stamp: number): void {
    if (stamp <= this.#clock.now() + aheadMsMax) this.#last = Math.max(this.#last, stamp)
  }
}
