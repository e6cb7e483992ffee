import { ApiError, type Status } from '../../core/base/errors.ts'
import { exhausted } from '../../core/quota/limits.ts'
import { idempotencyHeader } from './idempotent-call.ts'

/**
 * How a failed call is treated. `kept`: the current data caused the rejection, which is stored and repeated.
 * `forgotten`: the call had no effect and may run again. `unknown`: the call may have run, or may still run.
 */
type CallOutcome = 'kept' | 'forgotten' | 'unknown'

const endings: Readonly<Record<Status, CallOutcome>> = {
  INVALID_ARGUMENT: 'forgotten',
  FAILED_PRECONDITION: 'kept',
  UNAUTHENTICATED: 'forgotten',
  PERMISSION_DENIED: 'kept',
  NOT_FOUND: 'kept',
  ALREADY_EXISTS: 'kept',
  ABORTED: 'forgotten',
  RESOURCE_EXHAUSTED: 'forgotten',
  // Some operations throw INTERNAL themselves. A fault of the server is not an ApiError at this point.
  INTERNAL: 'kept',
  UNAVAILABLE: 'unknown',
}

export const callOutcomeOf = (error: unknown): CallOutcome =>
  error instanceof ApiError ? endings[error.status] : 'unknown'

/** Returns the error for a recorded call whose outcome was not recorded. */
export const unknownOutcomeRejection = (): ApiError =>
  new ApiError(
    'idempotency/outcome-unknown',
    `the outcome of the first call with this ${idempotencyHeader} is unknown; check the result, then retry with a new key`,
    { details: { outcome: 'unknown' } },
  )

/** Returns the error for a completed call whose response is not stored. */
export const responseNotKeptRejection = (httpCode: number): ApiError =>
  new ApiError(
    'idempotency/response-not-kept',
    `the call with this ${idempotencyHeader} was executed, but its response was not kept; read the result with another ` +
      'operation',
    { details: { outcome: 'done', httpCode } },
  )

/**
 * Returns the error for too many stored calls.
 * @param freeInMs time in ms until a stored call expires
 */
export const tooManyCallsRejection = (callsMax: number, freeInMs: number): ApiError =>
  exhausted('idempotentCalls', callsMax, {
    problem: `the API key has the maximum number of stored calls with an ${idempotencyHeader}`,
    remedy: 'call without one',
    retryAfterSeconds: Math.max(1, Math.ceil(freeInMs / 1000)),
  })

export const busy = (): ApiError =>
  new ApiError(
    'idempotency/in-progress',
    `the first call with this ${idempotencyHeader} is still under way; try again`,
    {
      details: { outcome: 'running' },
      retryAfterSeconds: 1,
    },
  )
