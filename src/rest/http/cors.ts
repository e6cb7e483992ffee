import type { ServerResponse } from 'node:http'
import type { AllowedOrigins } from '../../core/access/allowed-origins.ts'
import { apiKeyHeader, authTokenHeader } from '../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../core/base/errors.ts'
import { idempotencyHeader, replayedHeader } from '../idempotency/idempotent-call.ts'
import { ignoredHeader } from '../members.ts'
import type { Middleware } from './served-response.ts'

/** Seconds for which a browser may cache a preflight response. */
const preflightSeconds = 600

const allowedHeaders = [
  'authorization',
  'content-type',
  'x-request-id',
  'mcp-protocol-version',
  'last-event-id',
  idempotencyHeader,
  apiKeyHeader.name,
  authTokenHeader.name,
]
const allowOrigin = 'access-control-allow-origin'
const exposedHeaders = ['retry-after', 'x-request-id', replayedHeader, ignoredHeader]

/** The origins whose pages can read responses. */
type SharedOrigins = Pick<AllowedOrigins, 'isKnown'>

/**
 * All origins. Only for responses that depend on nothing but a token, whose API key has the domains that are
 * allowed: then pages can use the same origins as with websockets.
 */
export const allOrigins: SharedOrigins = { isKnown: () => Promise.resolve(true) }

/**
 * Sets the CORS headers of the response if any API key lists the domain of the page, so that the page can
 * read the response. All other pages get no CORS headers. Whether a page may use its API key is decided later, by the
 * credentials.
 */
export function shareWith(origins: SharedOrigins): Middleware {
  return async ({ headers: { origin = '' } }, response, next) => {
    response.setHeader('vary', 'origin')
    if (await origins.isKnown(origin)) {
      response.setHeader(allowOrigin, origin)
      response.setHeader('access-control-expose-headers', exposedHeaders.join(', '))
    }
    next()
  }
}

/** Answers the preflight requests of pages that may call the server, and rejects methods that the path does not have. */
export function acceptMethods(methods: readonly string[]): Middleware {
  const list = methods.join(', ')
  return ({ method = '', headers }, response, next) => {
    if (methods.includes(method)) return next()
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
    if (isPreflight && response.hasHeader(allowOrigin)) return answerPreflight(response, list)
    response.setHeader('allow', list)
    throw new ApiError('request/method', `the method must be ${list}`)
  }
}

function answerPreflight(response: ServerResponse, methods: string): void {
  response.setHeader('access-control-allow-methods', methods)
  response.setHeader('access-control-allow-headers', allowedHeaders.join(', '))
  response.setHeader('access-control-max-age', preflightSeconds)
  response.writeHead(204).end()
}
