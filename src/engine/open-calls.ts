import { StoreUnavailableError } from './engine.ts'

export const closedMessage = 'the store is closed'

/** What every call passes first: is the engine still open? Knows the calls under way, so that closing can wait. */
export class OpenCalls {
  readonly #running = new Set<Promise<unknown>>()
  #isOpen = true

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** @throws StoreUnavailableError after `close` */
  pass(): void {
    if (!this.#isOpen) throw new StoreUnavailableError(closedMessage)
  }

  /** Like `pass`, for a call that does not `await`. */
  refuse(): Promise<never> {
    return Promise.reject(new StoreUnavailableError(closedMessage))
  }

  /** Runs a call that `close` waits for. @throws StoreUnavailableError after `close` */
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
