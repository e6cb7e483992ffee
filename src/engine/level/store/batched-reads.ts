/**
 * Maximum number of keys in one read. A larger read is split, so that other reads get the reader threads in
 * between.
 */
const keysAtOnce = 64

/** Reads the values of several keys. Returns them in the order of the keys. */
export type ReadMany = (keys: readonly Uint8Array[]) => Promise<readonly (Buffer | undefined)[]>

interface Asked {
  readonly key: Uint8Array
  readonly resolve: (value: Buffer | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines the reads of all callers in one tick. Handing a read to a thread and being woken by the thread
 * costs many times as much as the read itself, even for a single small value.
 */
export class BatchedReads {
  readonly #readMany: ReadMany
  #asked: Asked[] = []

  constructor(readMany: ReadMany) {
    this.#readMany = readMany
  }

  /** Returns the value of a key as of some moment between the call and its result. */
  get(key: Uint8Array): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ key, resolve, reject })
      if (this.#asked.length === 1) setImmediate(() => this.flush())
    })
  }

  /** Starts the waiting reads immediately. */
  flush(): void {
    const asked = this.#asked
    this.#asked = []
    for (let start = 0; start < asked.length; start += keysAtOnce)
      void this.#answer(asked.slice(start, start + keysAtOnce))
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    try {
      const values = await this.#readMany(asked.map(({ key }) => key))
      asked.forEach(({ resolve }, index) => {
        resolve(values[index])
      })
    } catch (error) {
      // A damaged value must not fail the other reads of the same batch, so each read is repeated alone.
      if (asked.length > 1) for (const one of asked) void this.#answer([one])
      else for (const { reject } of asked) reject(error)
    }
  }
}
