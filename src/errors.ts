import { type CodeOf, causeOf, type ErrorCode, httpCodes, type Status } from './error-codes.ts'

export { type ErrorCode, httpCodes, type Status } from './error-codes.ts'

export interface ApiErrorOptions {
  /** Added to `error.details` of the envelope, next to `code`. */
  details?: Record<string, unknown>
  /** Sent as the `Retry-After` header, in seconds. */
  retryAfterSeconds?: number
  cause?: unknown
}

/**
 * An error that is the caller's answer: its message is shown to them, so it never carries secrets or internals. The code
 * decides the status and the HTTP code.
 */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: Status
  readonly details: Record<string, unknown> | undefined
  readonly retryAfterSeconds: number | undefined
  readonly httpCode: number

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause })
    const { status, httpCode = httpCodes[status] } = causeOf(code)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    this.httpCode = httpCode
  }
}

export const invalid = (
  code: CodeOf<'INVALID_ARGUMENT'>,
  message: string,
  details?: Record<string, unknown>,
): ApiError => new ApiError(code, message, details === undefined ? {} : { details })

/**
 * A problem that the operator must correct: the message states it, the hint has the remedy if the message does not.
 */
export class OperatorError extends Error {
  readonly hint: string | null

  constructor(
    message: string,
    { hint, ...options }: ErrorOptions & { readonly hint?: string | undefined } = {},
  ) {
    super(message, options)
    this.hint = hint ?? null
  }
}

/** Returns the text of any thrown value, for log lines. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
