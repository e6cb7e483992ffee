/** Work in steps, whose generator returns the result. Other work can run after each step. */
export type Steps<T> = Generator<void, T, void>

/** Number of ranges in one step, which takes about 1 ms. */
export const rangesPerStep = 8_192
/** Number of clients in one step: a client takes about eight times as long as a range. */
export const clientsPerStep = rangesPerStep / 8

/** Runs all steps at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
