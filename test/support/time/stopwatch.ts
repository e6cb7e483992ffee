/** Prints the time of each step of a walk. */
export class Stopwatch {
  readonly #began = performance.now()
  #last = this.#began

  /** @param what the step that is complete */
  lap(what: string): void {
    const now = performance.now()
    print(now - this.#last, what)
    this.#last = now
  }

  /** @returns the time of all steps in ms */
  end(): number {
    const ms = performance.now() - this.#began
    print(ms, 'in all')
    return ms
  }
}

const print = (ms: number, what: string): void =>
  console.log(`${(ms / 1000).toFixed(1).padStart(6)} s  ${what}`)
