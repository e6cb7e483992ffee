import { StoreUnavailableError } from './engine.ts'

export const closedMessage = 'the store is closed'

/**
 * Checks for each call that the engine is still open, and tracks the running calls, so that `close` can wait
 * for them.
 */
export class OpenCalls {
  readonly #running = new Set<Promise<unknown>>()
  #isOpen = true

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Checks that the engine has not been closed. @throws StoreUnavailableError after `close` */
  pass(): void {
    if (!this.#isOpen) throw new StoreUnavailableError(closedMessage)
  }

  /** Returns a promise that rejects like a call after `close`. For functions that are not async. */
  refuse(): Promise<never> {
    return Promise.reject(new StoreUnavailableError(closedMessage))
  }

  /**
   * Runs a call. `close` waits until the call has ended. Returns the promise of the call, because each call of the
   * store comes here.
   * @throws StoreUnavailableError after `close`
   */
  run<T>(call: () => Promise<T>): Promise<T> {
    try {
      this.pass()
      const running = call()
      this.#running.add(running)
      const ended = (): void => void this.#running.delete(running)
      running.then(ended, ended)
      return running
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Rejects all later calls. Resolves when the running calls have ended. */
  async close(): Promise<void> {
    this.#isOpen = false
    await Promise.allSettled(this.#running)
  }
}
