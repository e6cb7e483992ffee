/** Runs one call at a time for each name, in the order of the calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const result = before === undefined ? work() : before.then(work)
    const done = result.then(noop, noop)
    this.#last.set(name, done)
    try {
      return await result
    } finally {
      if (this.#last.get(name) === done) this.#last.delete(name)
    }
  }
}

const noop = (): void => undefined
