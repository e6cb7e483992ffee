/** How many ids are remembered. Yours belong where the effect of an event is stored, in the same transaction. */
const idsMax = 100_000

/** Does something once for each id, however often a request comes. */
export class Once {
  #ids = new Set()

  /** False where it has been done. What fails has not been done, and may be tried again. */
  async do(id, act) {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    try {
      await act()
    } catch (error) {
      this.#ids.delete(id)
      throw error
    }
    if (this.#ids.size > idsMax) this.#ids.delete(this.#ids.values().next().value)
    return true
  }
}
