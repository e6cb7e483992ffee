/**
 * A pause that ends early when `ring` is called. If `ring` is called while there is no pause, the next pause
 * ends immediately.
 */
export class InterruptiblePause {
  #state: 'quiet' | 'rung' = 'quiet'
  #wake: () => void = () => undefined

  ring(): void {
    this.#state = 'rung'
    this.#wake()
  }

  async wait(ms: number): Promise<void> {
    if (this.#state === 'quiet') {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#state = 'quiet'
  }
}

const backOffMs = { first: 500, longest: 15_000 }

/** Returns the delay in ms after a number of consecutive failures, with jitter. */
export const backOff = (failures: number): number =>
  Math.min(backOffMs.longest, backOffMs.first * 2 ** Math.min(failures - 1, 10)) * (0.75 + Math.random() / 2)
