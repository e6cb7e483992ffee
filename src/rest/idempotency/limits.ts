export interface IdempotencyLimits {
  /** Maximum number of stored calls of one caller. Further calls with a key get RESOURCE_EXHAUSTED. */
  readonly calls: number
  /** Maximum stored bytes of one caller. Beyond this limit, a call is stored without its response. */
  readonly bytes: number
  /**
   * Maximum stored bytes of one response. If a response is larger, the call is stored without its response.
   */
  readonly answerBytes: number
  /**
   * Maximum time in ms for which a call waits for the end of the first call with its key. After this time,
   * the call gets ABORTED.
   */
  readonly waitMs: number
  /** Maximum number of calls that wait for one call. Further calls get ABORTED immediately. */
  readonly waiting: number
}

export const idempotencyLimits: IdempotencyLimits = {
  calls: 100_000,
  bytes: 67_108_864,
  answerBytes: 262_144,
  waitMs: 10_000,
  waiting: 100,
}
