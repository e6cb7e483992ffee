import { addTo } from './maps.ts'

export interface SlotsOptions {
  /** Maximum number of calls that run in parallel. */
  readonly total: number
  /**
   * Maximum number of calls of one owner that run in parallel. The remaining slots are available to other
   * owners. Default: `total`.
   */
  readonly each?: number
  /** Number of slots, of `total`, that only owners without a slot get. Default: 0. */
  readonly reserved?: number
}

/**
 * Limits the number of calls that run in parallel. Owners whose calls wait get slots in rotation, independent
 * of the number of their calls. The calls of one owner start in the order in which they were made.
 */
export class Semaphore {
  readonly #options: SlotsOptions
  readonly #taken = new Map<string, number>()
  /** Waiting calls by owner, in the order in which the owners get slots. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #total = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /** Runs `work` when a slot is free, at once if it is free now. @param owner '' if there is only one */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.hasFree(owner)) this.#take(owner)
    else await this.#wait(owner)
    try {
      return await work()
    } finally {
      this.#leave(owner)
    }
  }

  /** Returns whether a call of an owner would get a slot at once. */
  hasFree(owner: string): boolean {
    return this.#mayTake(owner) && this.waitingOf(owner) === 0
  }

  /** Returns the number of calls of an owner that wait for a slot. */
  waitingOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0
  }

  /** Number of calls, of all owners, that wait for a slot. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0)
  }

  #wait(owner: string): Promise<void> {
    return new Promise((resolve) => addTo(this.#waiting, owner, resolve))
  }

  #take(owner: string): void {
    this.#total += 1
    this.#taken.set(owner, this.#takenBy(owner) + 1)
  }

  #leave(owner: string): void {
    const taken = this.#takenBy(owner) - 1
    if (taken === 0) this.#taken.delete(owner)
    else this.#taken.set(owner, taken)
    this.#total -= 1
    this.#admit()
  }

  #admit(): void {
    for (const [owner, line] of this.#waiting) {
      if (this.#total >= this.#options.total) return
      if (!this.#mayTake(owner)) continue
      this.#take(owner)
      line.shift()?.()
      // An owner that still waits is behind the others now, and this loop comes to it again.
      this.#waiting.delete(owner)
      if (line.length > 0) this.#waiting.set(owner, line)
    }
  }

  #mayTake(owner: string): boolean {
    const { total, each = total, reserved = 0 } = this.#options
    const max = this.#total < total - reserved ? each : 1
    return this.#total < total && this.#takenBy(owner) < max
  }

  #takenBy(owner: string): number {
    return this.#taken.get(owner) ?? 0
  }
}
