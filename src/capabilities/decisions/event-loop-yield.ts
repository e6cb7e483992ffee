import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Maximum total size of the index entries that are added in one tick, in the unit of `JudgmentIndex`. Adding
 * this amount takes some milliseconds.
 */
const sizeMax = 20_000

/** Yields to the event loop during long work, so that other work can run. */
export class EventLoopYield {
  #size = 0

  /**
   * Yields to the event loop if enough work was done since the last yield. Call this method after each step
   * of the work.
   * @param size size of the step, in the unit of `sizeMax`
   */
  async spend(size: number): Promise<void> {
    this.#size += size
    if (this.#size < sizeMax) return
    this.#size = 0
    await nextTurn()
  }
}
