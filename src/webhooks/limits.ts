/** What one attempt may take. */
export interface AttemptLimits {
  /** From the lookup of the name to the status of the answer. */
  readonly deadlineMs: number
  /** Time for the rest of an answer, which nobody reads, so that the receiver can end in peace. */
  readonly drainMs: number
  /** Of the rest of an answer; then the connection is cut off. */
  readonly answerBytesMax: number
  readonly answerHeaderBytesMax: number
  /** Answers "there is more to come" (1xx) before the one that counts. */
  readonly interimAnswersMax: number
  /** A larger body is not sent. */
  readonly bodyBytesMax: number
  /** Names and values of the headers that are given. */
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
