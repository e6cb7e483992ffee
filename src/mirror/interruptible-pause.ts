/** A pause that can be cut short. What rings while nobody waits cuts the next pause short. */
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

/** How long to wait after so many failures in a row; not the same for all who failed together. */
export const backOff = (failures: number): number =>
  Math.min(backOffMs.longest, backOffMs.first * 2 ** Math.min(failures - 1, 10)) * (0.75 + Math.random() / 2)
