/** A read in progress, for the names of one or more keys. */
export interface PendingRead {
  readonly names: readonly string[]
}

/**
 * Caches recently read or written values by the name of their key. Some values are needed by every connection and call,
 * such as the existence of an API key. With this cache, they are not read from disk each time. A value is
 * cached only while it cannot change: from the start of a write until the write is durable, callers read the
 * value from disk.
 */
export class ReadCache<Found> {
  /**
   * Maximum number of cached values. Beyond this number, the value that has been cached for the longest time
   * is evicted first.
   */
  readonly #valuesMax: number
  /** Returns whether a value is small enough for the cache. */
  readonly #fits: (value: Found) => boolean
  readonly #values = new Map<string, Found>()
  /**
   * The latest read in progress for each name. A read is removed from this map when a write of the same name
   * starts.
   */
  readonly #looks = new Map<string, PendingRead>()
  /** Number of writes in progress for each name. */
  readonly #writes = new Map<string, number>()
  /** Names with several writes in progress at the same time. The value of the last one is not cached. */
  readonly #overlapping = new Set<string>()

  constructor(valuesMax: number, fits: (value: Found) => boolean) {
    this.#valuesMax = valuesMax
    this.#fits = fits
  }

  /** Returns the value of a name; undefined if it is not cached. */
  value(name: string): Found | undefined {
    return this.#values.get(name)
  }

  /** Registers a read. Call this method before the read, and call `end` after it. */
  begin(names: readonly string[]): PendingRead {
    const look = { names }
    for (const name of names) if (!this.#writes.has(name)) this.#looks.set(name, look)
    return look
  }

  /**
   * Ends a read and caches its values, except those whose names were written in the meantime.
   * @param found the values in the order of the names; undefined if the read failed
   */
  end(look: PendingRead, found?: readonly Found[]): void {
    look.names.forEach((name, index) => {
      if (this.#looks.get(name) !== look) return
      this.#looks.delete(name)
      const value = found?.[index]
      if (value !== undefined) this.#remember(name, value)
    })
  }

  /**
   * Marks a name as being written. Call this method when the write takes effect, and call `written` when the
   * write is durable or has failed.
   */
  write(name: string): void {
    const others = this.#writes.get(name) ?? 0
    this.#writes.set(name, others + 1)
    if (others > 0) this.#overlapping.add(name)
    this.#looks.delete(name)
    this.#values.delete(name)
  }

  /** @param value the value to cache; undefined if it must not be cached, or if the write failed */
  written(name: string, value?: Found): void {
    const left = (this.#writes.get(name) ?? 1) - 1
    if (left > 0) {
      this.#writes.set(name, left)
      return
    }
    this.#writes.delete(name)
    const isLast = !this.#overlapping.delete(name)
    if (isLast && value !== undefined) this.#remember(name, value)
  }

  /** Evicts all values, because the stored values may have changed. */
  forget(): void {
    this.#values.clear()
    this.#looks.clear()
  }

  /** Caches values that were read in this tick, except those that are being written. */
  read(names: readonly string[], found: readonly Found[]): void {
    names.forEach((name, index) => {
      const value = found[index]
      if (value !== undefined && !this.#writes.has(name)) this.#remember(name, value)
    })
  }

  #remember(name: string, value: Found): void {
    if (!this.#fits(value)) return
    this.#values.set(name, value)
    if (this.#values.size <= this.#valuesMax) return
    for (const oldest of this.#values.keys()) return void this.#values.delete(oldest)
  }
}
