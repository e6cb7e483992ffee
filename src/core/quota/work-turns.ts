import { runUntraced } from '../base/current-trace.ts'
import { addTo } from '../base/maps.ts'

/**
 * Gives large or frequent work on the event loop its turns: a few callers continue in each tick. The owners are served
 * in rotation, so that one gains nothing from more concurrent calls.
 */
export class WorkTurns {
  readonly #turnsPerTick: number
  /** Waiting callers by owner. The first owner has the next turn. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** @param turnsPerTick number of callers that continue in a tick */
  constructor(turnsPerTick = 1) {
    this.#turnsPerTick = turnsPerTick
  }

  /**
   * Resolves when the caller may work, for a few milliseconds divided by the turns of a tick.
   * @param owner a workspace, or the address of a client without credentials
   */
  next(owner: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.size === 0) this.#runInNextTick()
      addTo(this.#waiting, owner, resolve)
    })
  }

  #runInNextTick(): void {
    runUntraced(() => setImmediate(this.#run))
  }

  readonly #run = (): void => {
    // An owner with more callers moves to the end of the map, where this loop finds it again.
    let turns = this.#turnsPerTick
    for (const [owner, callers] of this.#waiting) {
      if (turns === 0) break
      turns -= 1
      this.#waiting.delete(owner)
      callers.shift()?.()
      if (callers.length > 0) this.#waiting.set(owner, callers)
    }
    if (this.#waiting.size > 0) this.#runInNextTick()
  }
}
