/** Whether something must not change at the moment. Several may hold it: it may change again when the last one lets go. */
export class WriteLock {
  #held: Promise<void> | null = null
  #holders = 0
  #letGo = (): void => {}
  #resolve = (): void => {}

  /** Null while it is free; otherwise resolves when it may be free again. */
  get held(): Promise<void> | null {
    return this.#held
  }

  /** Returns how to let it go, once; the last `letGo` is called when all have, before those who wait. */
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
