/**
 * Counts the current uses of each key, for example the connections of each address, and checks whether a
 * further use is allowed.
 */
export class KeyedCounter {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  /** @param max maximum number of uses of each key; 0: unlimited */
  constructor(max: number) {
    this.#max = max
  }

  isFull(key: string): boolean {
    return this.#max > 0 && (this.#counts.get(key) ?? 0) >= this.#max
  }

  /**
   * Counts a further use of a key, even if the limit is reached. Returns a function that ends the use. A
   * second call of this function has no effect.
   */
  enter(key: string): () => void {
    this.add(key)
    let isIn = true
    return () => {
      if (isIn) this.remove(key)
      isIn = false
    }
  }

  /**
   * Counts a further use of a key, like `enter`. The caller must end the use with exactly one call of
   * `remove`.
   */
  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  remove(key: string): void {
    const left = (this.#counts.get(key) ?? 1) - 1
    if (left === 0) this.#counts.delete(key)
    else this.#counts.set(key, left)
  }
}
