import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NextFunction, Request, Response } from 'express'
import { loopbackViolation } from '../../access/loopback-guard.ts'
import { ApiError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { requestIdOf, securityHeaders } from '../../model/raw-response.ts'
import { sendError } from './envelope.ts'

interface Observers {
  readonly metrics: Metrics
  readonly log: Log
}

/** Sets the headers of the response and the id of the request, and returns the id. */
export function setCommonHeaders({ headers }: IncomingMessage, response: ServerResponse): string {
  const requestId = requestIdOf(headers['x-request-id'])
  response.setHeader('x-request-id', requestId)
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
  return requestId
}

/** Answers a request that does not reach the router. */
export function rejectRequest(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  setCommonHeaders(request, response)
  sendError(response, error)
}

/** Names the request and measures it. Neither path nor query are logged: only known routes. */
export const beginRequest =
  ({ metrics, log }: Observers) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const requestId = setCommonHeaders(request, response)
    response.locals.requestId = requestId
    response.locals.route = 'unknown'
    const startedAt = performance.now()
    response.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1000
      const route = String(response.locals.route)
      metrics.httpRequestDurationSeconds.observe({ route, status: response.statusCode }, seconds)
      log.debug({ requestId, method: request.method, route, status: response.statusCode, seconds }, 'request')
    })
    next()
  }

/**
 * @throws ApiError PERMISSION_DENIED for requests that a page of another site may have sent, without authentication
 */
export function requireLoopback(request: Request, _response: Response, next: NextFunction): void {
  const problem = loopbackViolation(request.headers)
  if (problem !== null) throw new ApiError('auth/loopback-only', problem)
  next()
}
