import { type CodeOf, causeOf, type ErrorCode, httpCodes, type Status } from './error-codes.ts'

export { type ErrorCode, httpCodes, type Status } from './error-codes.ts'

interface ApiErrorOptions {
  /** Fields of `error.details` in the error response, in addition to `code`. */
  details?: Record<string, unknown>
  /** Value of the `Retry-After` header, in seconds. */
  retryAfterSeconds?: number
  cause?: unknown
}

/**
 * An error that is returned to the caller together with its message. The message therefore never contains
 * secrets or internals. The error code determines the status and the HTTP code.
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
 * A problem that the operator must correct. The message states the problem; `hint` contains the remedy if the
 * message does not.
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

/** Returns the code of a system error, such as `ENOENT`; undefined if the error has none. */
export const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** Returns the message of any thrown value, for log lines. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Returns a handler that turns errors of these classes into null, for a promise whose reader can do without a value. */
export const nullFor =
  (...classes: readonly (abstract new (...given: never[]) => Error)[]) =>
  (error: unknown): null => {
    if (classes.some((each) => error instanceof each)) return null
    throw error
  }

/** Returns the result of `work`; `otherwise` if it throws: any error then means that there is no value. */
export function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch {
    return otherwise
  }
}

/**
 * Thrown if the configuration cannot be used. The message contains the option, its value (unless it is
 * secret) and the expected form.
 */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
}
