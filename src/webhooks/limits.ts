/** Limits of one attempt. */
export interface AttemptLimits {
  /** Time from the lookup of the name to the status of the response. */
  readonly deadlineMs: number
  /** Time to discard the rest of the response, so that the receiver can finish writing. */
  readonly drainMs: number
  /** Bytes of the rest of the response; then the connection is cut off. */
  readonly answerBytesMax: number
  readonly answerHeaderBytesMax: number
  /** Interim responses (1xx) before the final one. */
  readonly interimAnswersMax: number
  /** Maximum size of a body; a larger one is not sent. */
  readonly bodyBytesMax: number
  /** Total length of the names and values of the given headers. */
  readonly headerBytesMax: number
}

export const attemptLimits: AttemptLimits = {
  deadlineMs: 15_000,
  drainMs: 1_000,
  answerBytesMax: 65_536,
  answerHeaderBytesMax: 16_384,
  interimAnswersMax: 16,
  bodyBytesMax: 16 * 2 ** 20,
  headerBytesMax: 8_192,
}
