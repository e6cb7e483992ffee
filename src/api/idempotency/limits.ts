export interface IdempotencyLimits {
  /** Calls of one caller that are remembered; beyond it further ones with a key are RESOURCE_EXHAUSTED. */
  readonly calls: number
  /** Stored bytes per caller; beyond it, only the fact of a response is stored. */
  readonly bytes: number
  /** Maximum stored bytes of a response; of a larger one only its existence is stored. */
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
