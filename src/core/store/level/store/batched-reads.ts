import { runUntraced } from '../../../base/current-trace.ts'

/**
 * Maximum number of keys in one read. A read of more keys is split, so that the reader threads can serve
 * other reads in between.
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
 * Combines the reads of all callers in one tick into one read. Handing a read to a thread and being woken by
 * the thread costs many times as much as the read itself, even if only one small value is read.
 */
export class BatchedReads {
  readonly #readMany: ReadMany
  #asked: Asked[] = []

  constructor(readMany: ReadMany) {
    this.#readMany = readMany
  }

  /** Returns the value of a key as it was at some time between the call and the result. */
  get(key: Uint8Array): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ key, resolve, reject })
      if (this.#asked.length === 1) runUntraced(() => setImmediate(() => this.flush()))
    })
  }

  /** Starts the waiting reads immediately, instead of at the end of the tick. */
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
      // A damaged value must not fail the other reads of the batch, so each key is read again separately.
      if (asked.length > 1) for (const one of asked) void this.#answer([one])
      else for (const { reject } of asked) reject(error)
    }
  }
}
