/**
 * The time for all services. This is an interface so that a test can stop the time, or run through a long
 * time quickly.
 */
export interface Clock {
  /** Returns the time in epoch milliseconds. */
  now(): number
  /**
   * Calls `fn` once, when `ms` have passed and `now` has reached that time. Returns a function that cancels
   * the call. Does not keep the process alive.
   */
  after(ms: number, fn: () => void): () => void
}

/**
 * Returns a clock in milliseconds that never goes back. With it, time measurements neither hang nor repeat if
 * the system clock is set back.
 */
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

/**
 * Maximum time in ms by which a timer may fire too early, because timers use another clock than `Date.now`.
 * Without a correction, an item that is due at that time would not be found yet.
 */
const earlyMsMax = 2

export const systemClock: Clock = {
  now: Date.now,
  after(ms, fn) {
    const dueAt = Date.now() + ms
    const ring = (): void => {
      const left = dueAt - Date.now()
      // A larger difference means that the clock was set back; the timer is then correct.
      if (left > 0 && left <= earlyMsMax) timer = setTimeout(fn, left + 1).unref()
      else fn()
    }
    let timer = setTimeout(ring, ms).unref()
    return () => clearTimeout(timer)
  },
}
