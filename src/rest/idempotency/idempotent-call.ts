import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { AnyCaller } from '../../core/access/credentials/authenticator.ts'
import { ApiError, invalid, type Status } from '../../core/base/errors.ts'
import { misspelledName } from '../../core/base/text.ts'
import { isIdempotencyKey, keyLengthMax } from '../../core/model/idempotency-key.ts'
import { exhausted } from '../../core/quota/limits.ts'
import type { Key } from '../../core/store/engine.ts'
import type { Effect, Operation } from '../operation.ts'

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

/** Header with the key of a call. A call with a key runs once, however often the caller sends it. */
export const idempotencyHeader = 'idempotency-key'
/** Header that is `true` if the response is a stored response. */
export const replayedHeader = 'idempotent-replayed'

export interface IdempotencyLimits {
  /** Maximum number of stored calls of one caller. Further calls with a key get RESOURCE_EXHAUSTED. */
  readonly calls: number
  /** Maximum stored bytes of one caller. Beyond this limit, a call is stored without its response. */
  readonly bytes: number
  /**
   * Maximum stored bytes of one response. If a response is larger, the call is stored without its response.
   */
  readonly answerBytes: number
  /**
   * Maximum time in ms for which a call waits for the end of the first call with its key. After this time,
   * the call gets ABORTED.
   */
  readonly waitMs: number
  /** Maximum number of calls that wait for one call. Further calls get ABORTED immediately. */
  readonly waiting: number
}

export const idempotencyLimits: IdempotencyLimits = {
  calls: 100_000,
  bytes: 67_108_864,
  answerBytes: 262_144,
  waitMs: 10_000,
  waiting: 100,
}

/** A call with an `idempotency-key`. */
export interface IdempotentCall {
  /** Partition of the caller's calls in the store. */
  readonly part: Key
  /** Digest of the caller and the key. */
  readonly id: string
  /** The key in the request. It is used to encrypt the stored response, and is never stored. */
  readonly key: string
  readonly operation: string
  readonly effect: Effect
  /** Digest of the body. It cannot be computed without the key. */
  readonly body: string
}

/**
 * Returns the key of a request; null if the request has none.
 * @throws ApiError INVALID_ARGUMENT if the key is not valid
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const value = headers[idempotencyHeader]
  if (value === undefined) {
    const misspelled = Object.keys(headers).find(isMisspelled)
    if (misspelled === undefined) return null
    throw invalid('request/unknown-member', `the header ${misspelled} is unknown; use ${idempotencyHeader}`)
  }
  if (isIdempotencyKey(value)) return value
  throw invalid(
    'idempotency/invalid-key',
    `${idempotencyHeader} must be one key of 1 to ${keyLengthMax} visible ASCII characters`,
  )
}

/**
 * Returns whether a header misspells `idempotency-key`. If such a header were ignored, a repeated call would
 * run twice. `x-idempotency-key` counts as misspelled, because other services accept it.
 */
function isMisspelled(name: string): boolean {
  if (otherHeaderNames.has(name)) return false
  const text = name.startsWith('x-') ? name.slice(2) : name
  if (misspelledName(text, [idempotencyHeader]) !== null) return true
  if (name.length > cachedLengthMax) return false
  if (otherHeaderNames.size >= cachedNamesMax) otherHeaderNames.clear()
  otherHeaderNames.add(name)
  return false
}

/** Cache of names that do not misspell `idempotency-key`. Most calls have the same few names. */
const otherHeaderNames = new Set<string>()
const cachedNamesMax = 200
const cachedLengthMax = 64

/**
 * Creates a call and computes its digests.
 * @param text the text of the body
 */
export function parseIdempotentCall(
  caller: AnyCaller,
  { path, effect }: Pick<Operation, 'path' | 'effect'>,
  key: string,
  text: string,
): IdempotentCall {
  const part = partOf(caller)
  const id = createHash('sha256')
    .update(JSON.stringify([...part, key]))
    .digest('base64url')
  const body = createHmac('sha256', key).update(text).digest('base64url')
  return { part, id, key, operation: path, effect, body }
}

/** Returns the partition of a caller's calls. Each caller has its own partition. */
function partOf(caller: AnyCaller): Key {
  if (caller.level === 'agent') {
    const { tenant, identity } = caller
    return ['idempotency', 'agent', tenant.workspaceId, tenant.apiKey, identity.userId]
  }
  if (caller.level === 'key') return ['idempotency', 'key', caller.tenant.workspaceId, caller.tenant.apiKey]
  return caller.level === 'workspace'
    ? ['idempotency', 'workspace', caller.workspaceId]
    : ['idempotency', 'operator']
}

type Asked = Pick<IdempotentCall, 'operation' | 'body'>

export const isSameRequest = (first: Asked, call: Asked): boolean =>
  first.operation === call.operation && first.body === call.body

/**
 * Checks that two calls with the same key are the same call.
 * @throws ApiError INVALID_ARGUMENT if they are not
 */
export function checkSameRequest(first: Asked, call: IdempotentCall): void {
  if (first.operation !== call.operation)
    throw invalid(
      'idempotency/key-reused',
      `this ${idempotencyHeader} was already used for ${first.operation}; use a new key for each new call`,
    )
  if (first.body !== call.body)
    throw invalid(
      'idempotency/key-reused',
      `this ${idempotencyHeader} was already used with a different body; use a new key for each new call`,
    )
}
