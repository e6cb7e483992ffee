/** How many there are of each key now, and whether one more may come. */
export class KeyedCounter {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  /** @param max of one key; 0 is no limit */
  constructor(max: number) {
    this.#max = max
  }

  isFull(key: string): boolean {
    return this.#max > 0 && (this.#counts.get(key) ?? 0) >= this.#max
  }

  /** Counts one more, also where it is full. The returned function counts it off; calling it again changes nothing. */
  enter(key: string): () => void {
    this.add(key)
    let isIn = true
    return () => {
      if (isIn) this.remove(key)
      isIn = false
    }
  }

  /** Like `enter`, for who counts it off with `remove`, once. */
  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  remove(key: string): void {
    const left = (this.#counts.get(key) ?? 1) - 1
    if (left === 0) this.#counts.delete(key)
    else this.#counts.set(key, left)
  }
}
