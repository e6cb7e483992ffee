export interface SlotsOptions {
  /** Maximum number of calls that run in parallel. */
  readonly total: number
  /**
   * Maximum number of calls of one owner that run in parallel. The remaining slots are available to other
   * owners.
   */
  readonly each: number
  /** Number of slots, of `total`, that only owners without a slot get. Default: 0. */
  readonly reserved?: number
}

/**
 * Limits the number of calls that run in parallel. Owners whose calls wait get slots in rotation, independent
 * of the number of their calls.
 */
export class FairSemaphore {
  readonly #options: SlotsOptions
  readonly #taken = new Map<string, number>()
  /** Waiting calls by owner, in the order in which the owners get slots. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #total = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /** Runs `work` when a slot for `owner` is free. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(owner)
    try {
      return await work()
    } finally {
      this.#leave(owner)
    }
  }

  /** Returns whether a call of an owner would get a slot at once. */
  hasFree(owner: string): boolean {
    const { total, each, reserved = 0 } = this.#options
    const max = this.#total < total - reserved ? each : 1
    return this.#total < total && this.#takenBy(owner) < max && this.waitingOf(owner) === 0
  }

  /** Returns the number of calls of an owner that wait for a slot. */
  waitingOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0
  }

  /** Number of calls, of all owners, that wait for a slot. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0)
  }

  #enter(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(owner) ?? []
      line.push(resolve)
      this.#waiting.set(owner, line)
      this.#admit()
    })
  }

  #leave(owner: string): void {
    const taken = this.#takenBy(owner) - 1
    if (taken === 0) this.#taken.delete(owner)
    else this.#taken.set(owner, taken)
    this.#total -= 1
    this.#admit()
  }

  #admit(): void {
    while (this.#total < this.#options.total) {
      const next = this.#next()
      if (next === null) return
      const [owner, line] = next
      this.#total += 1
      this.#taken.set(owner, this.#takenBy(owner) + 1)
      line.shift()?.()
      this.#waiting.delete(owner)
      if (line.length > 0) this.#waiting.set(owner, line)
    }
  }

  /** Returns the first owner that may get a slot now, and its waiting calls. */
  #next(): readonly [owner: string, line: (() => void)[]] | null {
    const { total, each, reserved = 0 } = this.#options
    const max = this.#total < total - reserved ? each : 1
    for (const waiting of this.#waiting) if (this.#takenBy(waiting[0]) < max) return waiting
    return null
  }

  #takenBy(owner: string): number {
    return this.#taken.get(owner) ?? 0
  }
}
