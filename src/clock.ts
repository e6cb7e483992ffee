/**
 * Time as services see it. Behind an interface so that a test can hold it still or run a simulated history.
 */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Calls `fn` once after `ms`, unless the returned function is called first. Does not keep the process alive. */
  after(ms: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
