import type { IncomingMessage, ServerResponse } from 'node:http'
import { forwardedRequests } from '../../core/access/forwarded-requests.ts'
import { ApiError } from '../../core/base/errors.ts'
import { DocumentMovedError, movedHeader, movedMessage } from '../../core/forwarding/forwarder.ts'
import { errorEnvelope, requestIdOf, securityHeaders } from '../../core/model/raw-response.ts'
import { CorruptRecordError, NotOwnerError, StoreUnavailableError } from '../../core/store/engine.ts'
import type { OperationResult } from '../operation.ts'
import { sendSmall } from './sending.ts'

export const successBody = (answer: OperationResult<unknown>, bare = false): object => ({
  result: bare ? answer.data : { status: 'success', ...answer },
})

/**
 * Sends a JSON body.
 * @param body must be small, because it is encoded in one step
 */
export function sendJson(response: ServerResponse, httpCode: number, body: object): void {
  sendSmall(response, httpCode, JSON.stringify(body))
}

export function sendError(response: ServerResponse, error: ApiError): void {
  if (error.retryAfterSeconds !== undefined) response.setHeader('retry-after', error.retryAfterSeconds)
  if (error instanceof DocumentMovedError && forwardedRequests.has(response.req))
    response.setHeader(movedHeader, 'true')
  sendJson(response, error.httpCode, errorEnvelope(error))
}

/** Message for a store that is not available. Only `/readyz` and the log contain the cause. */
export const storeUnavailable = 'the store is not available; try again'

/**
 * Returns the ApiError that a caller gets for a thrown value. Returns null for a fault of the server, which
 * is described in the log only.
 */
export function toApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  if (error instanceof StoreUnavailableError)
    return new ApiError('server/store-unavailable', storeUnavailable, {
      retryAfterSeconds: 1,
      cause: error,
    })
  // The call may have changed something before this node lost the document, so it is not forwarded again.
  if (error instanceof NotOwnerError)
    return new ApiError('cluster/document-moved', movedMessage, { retryAfterSeconds: 1, cause: error })
  if (error instanceof CorruptRecordError)
    return new ApiError('document/damaged', 'the stored document is damaged; restore a backup', {
      cause: error,
    })
  return null
}

const securityHeaderList = Object.entries(securityHeaders)

/** Sets the common headers of the response, including the id of the request. Returns the id. */
export function setCommonHeaders({ headers }: IncomingMessage, response: ServerResponse): string {
  const requestId = requestIdOf(headers['x-request-id'])
  response.setHeader('x-request-id', requestId)
  for (const [name, value] of securityHeaderList) response.setHeader(name, value)
  return requestId
}

/** Sends the error for a request that does not reach the router. */
export function rejectRequest(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  setCommonHeaders(request, response)
  sendError(response, error)
}
