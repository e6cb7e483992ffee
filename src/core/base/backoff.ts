/** The pauses between the attempts at something that fails. */
interface Backoff {
  /** Pause in ms after the first failure. It doubles with each further failure in a row. */
  readonly firstMs: number
  readonly maxMs: number
  /**
   * Random part of each pause, from 0 to 1: a pause is shorter by up to this part. It keeps clients that failed at the
   * same moment from returning at the same moment. Default: 0.5.
   */
  readonly jitter?: number
}

/**
 * Exponential backoff. Returns the pause in ms before the next attempt.
 * @param failures number of failures in a row, at least 1
 */
export const pauseAfter = ({ firstMs, maxMs, jitter = 0.5 }: Backoff, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (1 - jitter * Math.random())
