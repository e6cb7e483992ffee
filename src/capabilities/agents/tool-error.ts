import { type ErrorCode, errorCodes } from '../../core/base/error-codes.ts'
import { ApiError } from '../../core/base/errors.ts'

interface ToolErrorOptions {
  /** Status of the code. */
  readonly status: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds?: number
}

/**
 * An error that a tool returns to the model, in contrast to an error of the protocol. The message and the
 * details can quote a document, so they are data.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: string
  readonly status: string
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | null

  constructor(code: string, message: string, { status, details = {}, retryAfterSeconds }: ToolErrorOptions) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds ?? null
  }

  /** The remedy of the code in the list of errors; '' if there is none. */
  get remedy(): string {
    return Object.hasOwn(errorCodes, this.code) ? errorCodes[this.code as ErrorCode].remedy : ''
  }
}

/** Returns the error of a tool for an error of the server. */
export const toToolError = ({ code, message, status, details, retryAfterSeconds }: ApiError): ToolError =>
  new ToolError(code, message, {
    status,
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
/** Returns the error for arguments that the tool rejects itself. */
export const invalidArgument = (path: string, message: string): ToolError =>
  toToolError(
    new ApiError('request/invalid-member', `${path} ${message}`, {
      details: { issues: [{ path, message }] },
    }),
  )
