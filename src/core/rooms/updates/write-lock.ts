/**
 * A lock that prevents changes of a document. Several holders may have the lock at the same time. Changes are
 * possible again when the last holder has released it.
 */
export class WriteLock {
  #held: Promise<void> | null = null
  #holders = 0
  #letGo = (): void => {}
  #resolve = (): void => {}

  /**
   * Null while the lock is free; otherwise a promise that resolves when the last holder has released the
   * lock. Another caller may then already have locked it again.
   */
  get held(): Promise<void> | null {
    return this.#held
  }

  /**
   * Adds a holder. Returns a function that releases the lock for this holder; call it once.
   * @param letGo called after the last release, before waiting callers continue; only the `letGo` of the
   * latest holder is called
   */
  hold(letGo: () => void): () => void {
    this.#held ??= new Promise<void>((resolve) => {
      this.#resolve = resolve
    })
    this.#letGo = letGo
    this.#holders += 1
    const held = this.#held
    let isHolding = true
    return () => {
      if (!isHolding || this.#held !== held) return
      isHolding = false
      this.#holders -= 1
      if (this.#holders === 0) this.release()
    }
  }

  /** Releases the lock for all holders. */
  release(how: 'calling letGo' | 'without calling letGo' = 'calling letGo'): void {
    if (this.#held === null) return
    this.#held = null
    this.#holders = 0
    const resolve = this.#resolve
    if (how === 'calling letGo') this.#letGo()
    resolve()
  }
}
