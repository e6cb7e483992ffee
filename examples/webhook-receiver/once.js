/** Maximum number of remembered ids. Store yours with the effect of the event, in the same transaction. */
const idsMax = 100_000

/** Runs an action once for each id, also if its request is repeated. */
export class Once {
  #ids = new Set()

  /** Returns false if the action has run before. An action that fails may run again. */
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
