/** Values that are remembered; of more, the ones remembered longest are forgotten. */
const cachedValuesMax = 1_000
/** Bytes of a value that is worth remembering. */
const bytesMax = 1_024

/** A value that has been looked for; null: there is none. */
type Found = Uint8Array | null

/** Somebody who looks for values on the disk. */
export interface PendingRead {
  readonly names: readonly string[]
}

/**
 * Values that somebody has looked for lately, by names of their keys: what is asked for at every connection and call,
 * as whether an API key exists, is not asked of the disk each time. A value is remembered only while it cannot be
 * another: from when a write of it begins until that is durable, whoever wants to know looks.
 */
export class ReadCache {
  readonly #values = new Map<string, Found>()
  /** Who looks for a value that has not been written since. */
  readonly #looks = new Map<string, PendingRead>()
  /** Writes under way. */
  readonly #writes = new Map<string, number>()

  /** In the order of the names; null unless all are remembered: what is asked for together is as of one moment. */
  all(names: readonly string[]): readonly Found[] | null {
    const found: Found[] = []
    for (const name of names) {
      const value = this.#values.get(name)
      if (value === undefined) return null
      found.push(value)
    }
    return found
  }

  /** To be called before looking, and `end` afterwards. */
  begin(names: readonly string[]): PendingRead {
    const look = { names }
    for (const name of names) if (!this.#writes.has(name)) this.#looks.set(name, look)
    return look
  }

  /** @param found in the order of the names; undefined where looking has failed */
  end(look: PendingRead, found?: readonly Found[]): void {
    look.names.forEach((name, index) => {
      if (this.#looks.get(name) !== look) return
      this.#looks.delete(name)
      const value = found?.[index]
      if (value !== undefined) this.#remember(name, value)
    })
  }

  /** To be called in the moment in which a write begins to take effect, and `written` when it is durable or has failed. */
  write(name: string): void {
    this.#writes.set(name, (this.#writes.get(name) ?? 0) + 1)
    this.#looks.delete(name)
    this.#values.delete(name)
  }

  written(name: string): void {
    const left = (this.#writes.get(name) ?? 1) - 1
    if (left === 0) this.#writes.delete(name)
    else this.#writes.set(name, left)
  }

  /** What is stored may be something else. */
  forget(): void {
    this.#values.clear()
    this.#looks.clear()
  }

  #remember(name: string, value: Found): void {
    if (value !== null && value.length > bytesMax) return
    this.#values.set(name, value)
    if (this.#values.size <= cachedValuesMax) return
    for (const oldest of this.#values.keys()) return void this.#values.delete(oldest)
  }
}
