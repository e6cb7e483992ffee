import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Maximum size of the index entries that are added in one tick of the event loop, in the unit of
 * `JudgmentIndex`. Adding entries of this size takes some milliseconds.
 */
const sizeMax = 20_000

/** Yields to the event loop during long work, so that other work can run. */
export class EventLoopYield {
  #size = 0

  /** Must be called after each step. @param size size of the step, in the unit of `sizeMax` */
  async spend(size: number): Promise<void> {
    this.#size += size
    if (this.#size < sizeMax) return
    this.#size = 0
    await nextTurn()
  }
}
