/** Limits of one request. */
export interface PostSizeLimits {
  /** Maximum time in ms from the DNS lookup to the status of the response. */
  readonly deadlineMs: number
  /**
   * Maximum time in ms for reading and discarding the remainder of the response, so that the receiver can
   * finish writing.
   */
  readonly drainMs: number
  /**
   * Maximum bytes to read of the body of the response. After these bytes, the connection is closed, and a
   * requested body is rejected.
   */
  readonly answerBytesMax: number
  readonly answerHeaderBytesMax: number
  /** Maximum number of interim responses (1xx) before the final one. */
  readonly interimAnswersMax: number
  /** Maximum bytes of a request body. A larger body is not sent. */
  readonly bodyBytesMax: number
  /** Maximum total length of the names and values of the given request headers. */
  readonly headerBytesMax: number
}

export const postLimits: PostSizeLimits = {
  deadlineMs: 15_000,
  drainMs: 1_000,
  answerBytesMax: 65_536,
  answerHeaderBytesMax: 16_384,
  interimAnswersMax: 16,
  bodyBytesMax: 16 * 2 ** 20,
  headerBytesMax: 8_192,
}
