/** HTTP code of each status of the error envelope. The list is closed: a new status is a new line here. */
export const httpCodes = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

export type Status = keyof typeof httpCodes

export interface ApiErrorOptions {
  /** Goes into `error.details` of the envelope. */
  details?: Record<string, unknown>
  /** Sent as the `Retry-After` header, in seconds. */
  retryAfterSeconds?: number
  /** HTTP code where it is not the usual one of the status (405, 413). */
  httpCode?: number
  cause?: unknown
}

/** An error that is the caller's answer: its message is shown to them, so it never carries secrets or internals. */
export class ApiError extends Error {
  readonly status: Status
  readonly details: Record<string, unknown> | undefined
  readonly retryAfterSeconds: number | undefined
  readonly httpCode: number

  constructor(status: Status, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.status = status
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    this.httpCode = options.httpCode ?? httpCodes[status]
  }
}

export const invalid = (message: string, details?: Record<string, unknown>): ApiError =>
  new ApiError('INVALID_ARGUMENT', message, details === undefined ? {} : { details })

/** Something for the operator to put right: the message says what is wrong, the hint what helps, if the message does not. */
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

/** The text of anything thrown, for log lines. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
