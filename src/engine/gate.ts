import { StoreUnavailable } from './engine.ts'

export const closedMessage = 'the store is closed'

/** What every call passes first: is the engine still open? Knows the calls under way, so that closing can wait. */
export class Gate {
  readonly #running = new Set<Promise<unknown>>()
  #isOpen = true

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** @throws StoreUnavailable after `close` */
  pass(): void {
    if (!this.#isOpen) throw new StoreUnavailable(closedMessage)
  }

  /** Like `pass`, for a call that does not `await`. */
  refuse(): Promise<never> {
    return Promise.reject(new StoreUnavailable(closedMessage))
  }

  /** Runs a call that `close` waits for. @throws StoreUnavailable after `close` */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.pass()
    const running = call()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Lets nothing in any more; resolves when the calls under way have ended. */
  async close(): Promise<void> {
    this.#isOpen = false
    await Promise.allSettled(this.#running)
  }
}
