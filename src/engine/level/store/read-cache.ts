/** Maximum number of cached values. The ones cached for longest are evicted. */
const cachedValuesMax = 1_000
/** Maximum size of a cached value, in bytes. */
const bytesMax = 1_024

/** A value that was read; null: the key is absent. */
type Found = Uint8Array | null

/** A read in progress. */
export interface PendingRead {
  readonly names: readonly string[]
}

/**
 * Recently read values by the names of their keys. Values that every connection and call needs, such as the
 * existence of an API key, are not read from disk each time. A value is cached only while it cannot change:
 * from the begin of a write until the write is durable, callers read from disk.
 */
export class ReadCache {
  readonly #values = new Map<string, Found>()
  /** The read in progress of each name that has not been written since it began. */
  readonly #looks = new Map<string, PendingRead>()
  /** Number of writes in progress by name. */
  readonly #writes = new Map<string, number>()

  /**
   * Returns the values in the order of the names; null unless all are cached, because values that are read
   * together must be of one moment.
   */
  all(names: readonly string[]): readonly Found[] | null {
    const found: Found[] = []
    for (const name of names) {
      const value = this.#values.get(name)
      if (value === undefined) return null
      found.push(value)
    }
    return found
  }

  /** Call before a read, and `end` after it. */
  begin(names: readonly string[]): PendingRead {
    const look = { names }
    for (const name of names) if (!this.#writes.has(name)) this.#looks.set(name, look)
    return look
  }

  /** @param found in the order of the names; undefined if the read has failed */
  end(look: PendingRead, found?: readonly Found[]): void {
    look.names.forEach((name, index) => {
      if (this.#looks.get(name) !== look) return
      this.#looks.delete(name)
      const value = found?.[index]
      if (value !== undefined) this.#remember(name, value)
    })
  }

  /** Call at the moment a write takes effect, and `written` when it is durable or has failed. */
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

  /** Evicts everything: the stored values may be different. */
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
