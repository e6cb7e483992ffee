/** Counts current uses by key, and checks whether one more is allowed. */
export class KeyedCounter {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  /** @param max limit of each key; 0: unlimited */
  constructor(max: number) {
    this.#max = max
  }

  isFull(key: string): boolean {
    return this.#max > 0 && (this.#counts.get(key) ?? 0) >= this.#max
  }

  /**
   * Counts one more use, also beyond the limit. The returned function ends it; calling it again changes
   * nothing.
   */
  enter(key: string): () => void {
    this.add(key)
    let isIn = true
    return () => {
      if (isIn) this.remove(key)
      isIn = false
    }
  }

  /** Like `enter`, for a caller that ends the use with one call of `remove`. */
  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  remove(key: string): void {
    const left = (this.#counts.get(key) ?? 1) - 1
    if (left === 0) this.#counts.delete(key)
    else this.#counts.set(key, left)
  }
}
