import { ApiError, errorCode } from '../base/errors.ts'

/**
 * Returns the value of `error.type` for a failure: the code of the error if it has one, else the name of its class.
 * Never contains the message, which may contain content.
 */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ApiError) return error.code
  const code = errorCode(error)
  if (typeof code === 'string') return code
  // The value of the semantic conventions for an error without a name.
  return error instanceof Error ? error.name : '_OTHER'
}
