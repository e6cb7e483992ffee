export interface SlotsOptions {
  /** Maximum number of works that run in parallel. */
  readonly total: number
  /** Maximum for one owner; the remaining slots are for others. */
  readonly each: number
}

/**
 * Bounds the work that runs in parallel. Waiting owners get slots in rotation, independent of how much work
 * each of them has.
 */
export class FairSemaphore {
  readonly #options: SlotsOptions
  readonly #taken = new Map<string, number>()
  /** Waiting work by owner, in the order of rotation. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #total = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /** Runs `work` as soon as there is a slot for `owner`. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(owner)
    try {
      return await work()
    } finally {
      this.#leave(owner)
    }
  }

  /** Number of works of an owner that wait for a slot. */
  waitingOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0
  }

  /** Number of works that wait for a slot, over all owners. */
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
      const next = [...this.#waiting].find(([owner]) => this.#takenBy(owner) < this.#options.each)
      if (next === undefined) return
      const [owner, line] = next
      this.#total += 1
      this.#taken.set(owner, this.#takenBy(owner) + 1)
      line.shift()?.()
      this.#waiting.delete(owner)
      if (line.length > 0) this.#waiting.set(owner, line)
    }
  }

  #takenBy(owner: string): number {
    return this.#taken.get(owner) ?? 0
  }
}
