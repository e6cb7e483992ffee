export interface IdempotencyLimits {
  /** Stored calls per caller; further calls with a key are RESOURCE_EXHAUSTED. */
  readonly calls: number
  /** Stored bytes per caller; beyond it, only the fact of a response is stored. */
  readonly bytes: number
  /** Maximum stored bytes of a response; for a larger one only its existence is stored. */
  readonly answerBytes: number
  /** Time in ms that a call waits for the end of the first call with its key; then it is ABORTED. */
  readonly waitMs: number
  /** Calls that wait for one call; further ones are ABORTED at once. */
  readonly waiting: number
}

export const idempotencyLimits: IdempotencyLimits = {
  calls: 100_000,
  bytes: 67_108_864,
  answerBytes: 262_144,
  waitMs: 10_000,
  waiting: 100,
}
