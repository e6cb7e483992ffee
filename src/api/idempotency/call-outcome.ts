import { ApiError, type Status } from '../../errors.ts'
import { exhausted } from '../../quota/limits.ts'
import { idempotencyHeader } from './idempotent-call.ts'

/**
 * What becomes of a call that fails. `kept`: it is refused for what is there, and is refused so again. `forgotten`:
 * nothing was done, and it can be made again. `unknown`: it may have been done, or be done yet.
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
  // Some operations call something so themselves; what is our fault is no ApiError yet.
  INTERNAL: 'kept',
  UNAVAILABLE: 'unknown',
}

export const callOutcomeOf = (error: unknown): CallOutcome =>
  error instanceof ApiError ? endings[error.status] : 'unknown'

/** A call that was noted when it began, and whose end was not. */
export const unknownOutcomeRejection = (): ApiError =>
  new ApiError(
    'idempotency/outcome-unknown',
    `nobody knows how the first call with this ${idempotencyHeader} ended: the server stopped, or failed, while it was ` +
      'carried out, and it is not made again. Look whether it was done; if it was not, call with another key',
    { details: { outcome: 'unknown' } },
  )

/** A call that was done, and whose answer there is not any more. */
export const responseNotKeptRejection = (httpCode: number): ApiError =>
  new ApiError(
    'idempotency/response-not-kept',
    `the call with this ${idempotencyHeader} was carried out, and is not made again; its answer was too large to be ` +
      'kept, found no place, or cannot be read any more',
    { details: { outcome: 'done', httpCode } },
  )

/** @param freeInMs when there is a place again */
export const tooManyCallsRejection = (callsMax: number, freeInMs: number): ApiError =>
  exhausted('idempotentCalls', callsMax, {
    problem: `the API key has as many stored calls with an ${idempotencyHeader} as are allowed`,
    remedy: 'call without one, or try again after Retry-After seconds',
    retryAfterSeconds: Math.max(1, Math.ceil(freeInMs / 1000)),
  })
