import { ApiError, type Status } from '../../errors.ts'
import { exhausted } from '../../quota/limits.ts'
import { idempotencyHeader } from './idempotent-call.ts'

/**
 * Outcome of a failed call. `kept`: a rejection for the current data, which is stored and repeated. `forgotten`: the
 * call had no effect and may run again. `unknown`: the call may have run, or may still run.
 */
export type CallOutcome = 'kept' | 'forgotten' | 'unknown'

const endings: Readonly<Record<Status, CallOutcome>> = {
  INVALID_ARGUMENT: 'forgotten',
  FAILED_PRECONDITION: 'kept',
  UNAUTHENTICATED: 'forgotten',
  PERMISSION_DENIED: 'kept',
  NOT_FOUND: 'kept',
  ALREADY_EXISTS: 'kept',
  ABORTED: 'forgotten',
  RESOURCE_EXHAUSTED: 'forgotten',
  // Some operations throw it themselves; a fault of the server is not an ApiError yet.
  INTERNAL: 'kept',
  UNAVAILABLE: 'unknown',
}

export const callOutcomeOf = (error: unknown): CallOutcome =>
  error instanceof ApiError ? endings[error.status] : 'unknown'

/** The error for a recorded call without a recorded end. */
export const unknownOutcomeRejection = (): ApiError =>
  new ApiError(
    'idempotency/outcome-unknown',
    `the outcome of the first call with this ${idempotencyHeader} is unknown; check the result, then retry with a new key`,
    { details: { outcome: 'unknown' } },
  )

/** The error for a completed call whose response is not stored. */
export const responseNotKeptRejection = (httpCode: number): ApiError =>
  new ApiError(
    'idempotency/response-not-kept',
    `the call with this ${idempotencyHeader} was executed, but its response was not kept; read the result with another ` +
      'operation',
    { details: { outcome: 'done', httpCode } },
  )

/** @param freeInMs time until an entry expires */
export const tooManyCallsRejection = (callsMax: number, freeInMs: number): ApiError =>
  exhausted('idempotentCalls', callsMax, {
    problem: `the API key has the maximum number of stored calls with an ${idempotencyHeader}`,
    remedy: 'call without one, or try again after Retry-After seconds',
    retryAfterSeconds: Math.max(1, Math.ceil(freeInMs / 1000)),
  })
