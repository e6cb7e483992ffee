/** Schedule of the attempts of a message. */
export interface Schedule {
  /**
   * Delays in ms after the first failure, after the second failure, and so on. The last delay precedes the
   * last attempt.
   */
  readonly delaysMs: readonly number[]
  /**
   * Random share by which a delay is made longer or shorter (0.1 means ±10%), so that receivers do not get
   * all retries together.
   */
  readonly jitter: number
  /** Time in ms after which an endpoint without any success is disabled. */
  readonly disableAfterMs: number
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Allows eight attempts in about 27 h 35 min. */
export const defaultSchedule: Schedule = {
  delaysMs: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
  jitter: 0.1,
  disableAfterMs: 5 * 24 * hour,
}

/**
 * Returns the delay in ms of the next attempt after `failures` failed attempts (at least 1); null if there is
 * no further attempt.
 * @param random from 0 to 1
 */
export function delayAfter({ delaysMs, jitter }: Schedule, failures: number, random: number): number | null {
  const delay = delaysMs[failures - 1]
  return delay === undefined ? null : Math.round(delay * (1 + jitter * (2 * random - 1)))
}
