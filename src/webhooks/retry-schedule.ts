/** When a message whose attempts fail is tried again. */
export interface Schedule {
  /** Milliseconds after the first failure, the second, …; after the last of them there is one more attempt. */
  readonly delaysMs: readonly number[]
  /** Part of a delay that it may be shorter or longer by, so that receivers are not all tried at once. */
  readonly jitter: number
  /** An endpoint of which nothing but failures has come for so long is disabled. */
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
 * Milliseconds until the next attempt after so many failures (at least 1); null: there is none.
 * @param random from 0 to 1
 */
export function delayAfter({ delaysMs, jitter }: Schedule, failures: number, random: number): number | null {
  const delay = delaysMs[failures - 1]
  return delay === undefined ? null : Math.round(delay * (1 + jitter * (2 * random - 1)))
}
