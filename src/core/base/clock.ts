import { runUntraced } from './current-trace.ts'

/**
 * The time and the timers of all services. This is an interface, so that a test can stop its clock, or move
 * it forward without waiting.
 */
export interface Clock {
  /** Returns the time in epoch milliseconds. */
  now(): number
  /**
   * Calls `fn` once after `ms` milliseconds; `now` has then reached the due time. Returns a function that
   * cancels the call. The timer does not keep the process alive. `fn` runs outside any trace, because many timers
   * serve several callers.
   */
  after(ms: number, fn: () => void): () => void
}

/**
 * Waits until `work` ends, but at most `ms` milliseconds. Returns whether it has ended. Rejects if `work` rejects within
 * this time.
 */
export async function endsWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let cancel = (): void => {}
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false))
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    cancel()
  }
}

/**
 * Returns a variant of `clock.now` whose result never decreases. If `clock` is set back, the result continues
 * from its last value. Code that measures periods then neither waits too long nor counts a period twice.
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
 * Maximum time in ms by which a timer may fire too early. This happens because timers use another clock than
 * `Date.now`. Without a correction, `fn` would run before `now` reaches the due time, and would not find the
 * items that are due.
 */
const earlyMsMax = 2

export const systemClock: Clock = {
  now: Date.now,
  after(ms, fn) {
    const dueAt = Date.now() + ms
    const ring = (): void => {
      const left = dueAt - Date.now()
      // If more than `earlyMsMax` is left, the timer did not fire too early: the clock was set back.
      if (left > 0 && left <= earlyMsMax) timer = setTimeout(fn, left + 1).unref()
      else fn()
    }
    let timer = runUntraced(() => setTimeout(ring, ms)).unref()
    return () => clearTimeout(timer)
  },
}
