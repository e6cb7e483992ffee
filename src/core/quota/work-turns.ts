import { runUntraced } from '../base/current-trace.ts'

/**
 * Gives large work on the event loop its turns: in each tick, one caller continues. The workspaces are served in
 * rotation, so that one gains nothing from more concurrent calls.
 */
export class WorkTurns {
  /** Waiting callers by workspace. The first workspace has the next turn. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Resolves when the caller may work, for a few milliseconds. */
  next(workspaceId: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.size === 0) this.#runInNextTick()
      const own = this.#waiting.get(workspaceId)
      if (own === undefined) this.#waiting.set(workspaceId, [resolve])
      else own.push(resolve)
    })
  }

  #runInNextTick(): void {
    runUntraced(() => setImmediate(this.#run))
  }

  readonly #run = (): void => {
    for (const [workspaceId, [resolve, ...others]] of this.#waiting) {
      this.#waiting.delete(workspaceId)
      if (others.length > 0) this.#waiting.set(workspaceId, others)
      resolve?.()
      break
    }
    if (this.#waiting.size > 0) this.#runInNextTick()
  }
}
