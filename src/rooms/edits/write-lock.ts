/**
 * A lock that prevents changes. It may have several holders. Changes are possible again when the last holder
 * has released the lock.
 */
export class WriteLock {
  #held: Promise<void> | null = null
  #holders = 0
  #letGo = (): void => {}
  #resolve = (): void => {}

  /** Null while the lock is free; otherwise a promise that resolves when the lock may be free again. */
  get held(): Promise<void> | null {
    return this.#held
  }

  /**
   * Locks. Returns the function that releases the lock; call it once. After the last release, the `letGo` of
   * the latest holder runs before the waiting callers continue.
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
  release(): void {
    if (this.#held === null) return
    this.#held = null
    this.#holders = 0
    const resolve = this.#resolve
    this.#letGo()
    resolve()
  }
}
