import { setImmediate as nextTurn } from 'node:timers/promises'

/** What is put into indexes in one turn of the event loop, as `JudgmentIndex` counts it: takes some milliseconds. */
const sizeMax = 20_000

/** Lets the event loop turn in the middle of long work. */
export class EventLoopYield {
  #size = 0

  /** Called after each step. @param size that of the step */
  async spend(size: number): Promise<void> {
    this.#size += size
    if (this.#size < sizeMax) return
    this.#size = 0
    await nextTurn()
  }
}
