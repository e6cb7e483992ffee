/** Schedule of the attempts of a message. */
export interface Schedule {
  /** Milliseconds to wait after the first failure, the second, …; the last delay precedes the last attempt. */
  readonly delaysMs: readonly number[]
  /** Random share by which a delay is longer or shorter (0.1 is ±10%), so that receivers are not all called at once. */
  readonly jitter: number
  /** An endpoint with nothing but failures for this time is disabled. */
  readonly disableAfterMs: number
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Eight attempts in about 27 h 35 min. */
export const defaultSchedule: Schedule = {
  delaysMs: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
  jitter: 0.1,
  disableAfterMs: 5 * 24 * hour,
}

/**
 * Returns the milliseconds until the next attempt after `failures` failed attempts (at least 1); null if there is no
 * further attempt.
 * @param random from 0 to 1
 */
export function delayAfter({ delaysMs, jitter }: Schedule, failures: number, random: number): number | null {
  const delay = delaysMs[failures - 1]
  return delay === undefined ? null : Math.round(delay * (1 + jitter * (2 * random - 1)))
}
