/** Keys that are asked for at once: more take their turns on the threads that read, so that others get some in between. */
const keysAtOnce = 64

/** Reads the values of some keys, in their order. */
export type ReadMany = (keys: readonly Uint8Array[]) => Promise<readonly (Buffer | undefined)[]>

interface Asked {
  readonly key: Uint8Array
  readonly resolve: (value: Buffer | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Puts together what is asked for in one turn of the event loop, by whomever. Handing a read to a thread, and being
 * woken by it, costs many times what the read does, also where it is one of a single small value.
 */
export class BatchedReads {
  readonly #readMany: ReadMany
  #asked: Asked[] = []

  constructor(readMany: ReadMany) {
    this.#readMany = readMany
  }

  /** The value of a key as it is at some moment between now and the answer. */
  get(key: Uint8Array): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ key, resolve, reject })
      if (this.#asked.length === 1) setImmediate(() => this.flush())
    })
  }

  /** Reads what waits now. */
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
      // What is damaged must not take along what it was read with.
      if (asked.length > 1) for (const one of asked) void this.#answer([one])
      else for (const { reject } of asked) reject(error)
    }
  }
}
