/**
 * Time as services see it. Behind an interface so that a test can hold it still or run a simulated history.
 */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /**
   * Calls `fn` once after `ms`, not before `now` reaches that time, unless the returned function is called first.
   * Does not keep the process alive.
   */
  after(ms: number, fn: () => void): () => void
}

/** Milliseconds that never decrease: measurements neither hang nor repeat if the clock is set back. */
export function steadyTime(clock: Clock): () => number {
  let last = clock.now()
  let backMs = 0
  return () => {
    const read = clock.now()
    backMs += Math.max(0, last - read)
    last = read
    return read + backMs
  }
}

/** Timers use another clock, and are sometimes this early: an item due at that time would not be found yet. */
const earlyMsMax = 2

export const systemClock: Clock = {
  now: Date.now,
  after(ms, fn) {
    const dueAt = Date.now() + ms
    const ring = (): void => {
      const left = dueAt - Date.now()
      // A larger difference means that the clock was set back: then the timer is right.
      if (left > 0 && left <= earlyMsMax) timer = setTimeout(fn, left + 1).unref()
      else fn()
    }
    let timer = setTimeout(ring, ms).unref()
    return () => clearTimeout(timer)
  },
}
