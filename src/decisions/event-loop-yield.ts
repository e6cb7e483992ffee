import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Size of the index entries that one tick of the event loop adds, as `JudgmentIndex` measures it. That takes some
 * milliseconds.
 */
const sizeMax = 20_000

/** Yields to the event loop during long work. */
export class EventLoopYield {
  #size = 0

  /** Call after each step. @param size size of the step, in the same unit as `sizeMax` */
  async spend(size: number): Promise<void> {
    this.#size += size
    if (this.#size < sizeMax) return
    this.#size = 0
    await nextTurn()
  }
}
