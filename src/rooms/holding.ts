/** Whether something must not change at the moment: one holds it at a time, the others wait. */
export class Holding {
  #held: Promise<void> | null = null
  #release = (): void => {}

  /** Null when nobody holds it; else resolves when that may be so again. */
  get held(): Promise<void> | null {
    return this.#held
  }

  /** Must not be held. Returns how to let it go; `letGo` is called then, before those who wait. */
  hold(letGo: () => void): () => void {
    let resolve = (): void => {}
    const held = new Promise<void>((settle) => {
      resolve = settle
    })
    this.#held = held
    const release = (): void => {
      if (this.#held !== held) return
      this.#held = null
      letGo()
      resolve()
    }
    this.#release = release
    return release
  }

  /** Lets it go, whoever holds it. */
  release(): void {
    this.#release()
  }
}
