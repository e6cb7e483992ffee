/**
 * Runs calls so that at most one call with the same name runs at a time. Calls with the same name run in the
 * order in which they were made.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  /** @param work must not throw, but return a promise that rejects */
  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const result = before === undefined ? work() : before.then(work)
    const ended = (): void => {
      if (this.#last.get(name) === done) this.#last.delete(name)
    }
    const done: Promise<void> = result.then(ended, ended)
    this.#last.set(name, done)
    return result
  }
}
