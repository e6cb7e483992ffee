import { httpCodes, type Status } from '../../core/base/error-codes.ts'
import type { Result, WeftFailure } from '../api/result.ts'
import { WeftError } from '../api/result.ts'

/**
 * Code of an error that the endpoint itself returns. `endpoint/denied`: the application denies the document to the
 * user. `endpoint/cannot-comment`: the user may only read. `endpoint/not-author`: the comment is of another user.
 * `endpoint/cannot-decide`: the user may not accept or reject the suggestion. `endpoint/suggestion-changed`: it was
 * changed or decided meanwhile.
 * `endpoint/unavailable`: Weft does not answer now. `server/internal`: a fault, which is reported to `onError`.
 */
export type EndpointErrorCode =
  | 'endpoint/denied'
  | 'endpoint/cannot-comment'
  | 'endpoint/not-author'
  | 'endpoint/cannot-decide'
  | 'endpoint/suggestion-changed'
  | 'endpoint/unavailable'
  | 'request/unknown-path'
  | 'request/method'
  | 'request/content-type'
  | 'request/body-too-large'
  | 'request/invalid-json'
  | 'request/invalid-member'
  | 'request/unknown-member'
  | 'server/internal'

const statuses: Readonly<Record<EndpointErrorCode, Status>> = {
  'endpoint/denied': 'PERMISSION_DENIED',
  'endpoint/cannot-comment': 'PERMISSION_DENIED',
  'endpoint/not-author': 'PERMISSION_DENIED',
  'endpoint/cannot-decide': 'PERMISSION_DENIED',
  'endpoint/suggestion-changed': 'FAILED_PRECONDITION',
  'endpoint/unavailable': 'UNAVAILABLE',
  'request/unknown-path': 'NOT_FOUND',
  'request/method': 'INVALID_ARGUMENT',
  'request/content-type': 'INVALID_ARGUMENT',
  'request/body-too-large': 'INVALID_ARGUMENT',
  'request/invalid-json': 'INVALID_ARGUMENT',
  'request/invalid-member': 'INVALID_ARGUMENT',
  'request/unknown-member': 'INVALID_ARGUMENT',
  'server/internal': 'INTERNAL',
}

/** Codes whose HTTP code is not that of their status; see the list of errors of REST. */
const ownHttpCodes = new Map<string, number>([
  ['request/method', 405],
  ['request/body-too-large', 413],
])

/** Statuses whose errors a user can understand or repeat. Other errors of Weft are faults of the application. */
const statusesForUsers: readonly string[] = [
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'ABORTED',
  'RESOURCE_EXHAUSTED',
]

interface Rejection {
  readonly status: Status
  readonly code: string
  readonly message: string
  /** The member of the request that is not valid. */
  readonly path?: string | undefined
  readonly retryAfterSeconds?: number | undefined
}

/** Thrown to end a request with an error response. */
export class RejectedRequest extends Error {
  override readonly name = 'RejectedRequest'
  readonly rejection: Rejection

  constructor(rejection: Rejection) {
    super(rejection.message)
    this.rejection = rejection
  }
}

/** @param path JSON pointer to the member that is not valid, such as `/anchor/position` */
export const rejected = (code: EndpointErrorCode, message: string, path?: string): RejectedRequest =>
  new RejectedRequest({ status: statuses[code], code, message, path })

/** Returns the error response for a user. It has nothing of the error but its code and its message. */
export function errorResponse({ rejection }: RejectedRequest): Response {
  const { status, code, message, path, retryAfterSeconds } = rejection
  const details = { ...(path !== undefined && { issues: [{ path, message }] }), code }
  const response = jsonResponse(
    { error: { status, message, details } },
    ownHttpCodes.get(code) ?? httpCodes[status],
  )
  if (code === 'request/method') response.headers.set('allow', 'POST')
  if (retryAfterSeconds !== undefined)
    response.headers.set('retry-after', String(Math.ceil(retryAfterSeconds)))
  return response
}

/** Returns a JSON response that no cache stores. */
export const jsonResponse = (body: object, httpCode = 200): Response =>
  new Response(JSON.stringify(body), {
    status: httpCode,
    headers: {
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    },
  })

/**
 * Returns the result of a call of Weft.
 * @throws RejectedRequest if the user can understand the error or repeat the request; WeftError for other errors
 */
export function resultForUser<Data>(result: Result<Data>): Result<Data> & { readonly ok: true } {
  if (result.ok) return result
  const { status, code, message, retryAfterSeconds } = result.error
  const isForUser = statusesForUsers.includes(status) && !/^(auth|client)\//.test(code)
  if (isForUser) throw new RejectedRequest({ status: status as Status, code, message, retryAfterSeconds })
  throw new WeftError(result.error)
}

/** Returns whether an error is a WeftError, also one of the bundle of a server in the same process. */
export const isWeftError = (error: unknown): error is WeftError =>
  error instanceof Error && error.name === 'WeftError'

/** Returns the error for a fault, whose details only the application sees. */
export function rejectionOfFault(error: unknown): RejectedRequest {
  const status: WeftFailure['status'] = isWeftError(error) ? error.status : 'INTERNAL'
  return status === 'UNAVAILABLE'
    ? rejected('endpoint/unavailable', 'the documents are not available; try again')
    : rejected('server/internal', 'the request failed')
}
