export interface IdempotencyLimits {
  /** Calls of one caller that are remembered; beyond it further ones with a key are RESOURCE_EXHAUSTED. */
  readonly calls: number
  /** Bytes of what is remembered of them: the same; of an answer that finds no place, only that it was given. */
  readonly bytes: number
  /** Bytes of an answer that is kept; of a larger one only that it was given. */
  readonly answerBytes: number
  /** How long a call waits for the end of the first one with its key, in ms; then it is ABORTED. */
  readonly waitMs: number
  /** Calls that wait for one; the others are ABORTED at once. */
  readonly waiting: number
}

export const idempotencyLimits: IdempotencyLimits = {
  calls: 100_000,
  bytes: 67_108_864,
  answerBytes: 262_144,
  waitMs: 10_000,
  waiting: 100,
}
