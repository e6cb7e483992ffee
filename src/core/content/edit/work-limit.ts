/** Thrown if an edit needs more work than its limit allows. The document is unchanged then. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError'

  constructor() {
    super('the edit needs more work than its limit allows')
  }
}

/**
 * Limits the work of an edit, in steps. A step takes about 10 ns. All steps are counted before the edit writes
 * anything, so that an edit that exceeds its limit changes nothing.
 */
export class WorkLimit {
  #stepsLeft: number

  constructor(steps = Number.POSITIVE_INFINITY) {
    this.#stepsLeft = steps
  }

  get isLimited(): boolean {
    return this.#stepsLeft < Number.POSITIVE_INFINITY
  }

  /** @throws WorkLimitError */
  spend(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) throw new WorkLimitError()
  }
}
