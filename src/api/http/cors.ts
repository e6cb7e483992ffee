import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AllowedOrigins } from '../../access/allowed-origins.ts'
import { apiKeyHeader, authTokenHeader } from '../../access/credentials/key-credentials.ts'
import { idempotencyHeader, replayedHeader } from '../idempotency/idempotent-call.ts'
import { ignoredHeader } from '../members.ts'

/** Seconds for which a browser may cache a preflight response. */
const preflightSeconds = 600

/** Headers of the Model Context Protocol. */
const mcpHeaders = ['mcp-session-id', 'mcp-protocol-version']

const allowedHeaders = [
  'authorization',
  'content-type',
  'x-request-id',
  ...mcpHeaders,
  'last-event-id',
  idempotencyHeader,
  apiKeyHeader.name,
  authTokenHeader.name,
]
const exposedHeaders = ['retry-after', 'x-request-id', 'mcp-session-id', replayedHeader, ignoredHeader]

/** The origins whose pages can read responses. */
export type SharedOrigins = Pick<AllowedOrigins, 'isKnown'>

/**
 * All origins. Only for responses that depend on nothing but a token, whose API key has the domains that are
 * allowed: then pages can use the same origins as with websockets.
 */
export const allOrigins: SharedOrigins = { isKnown: () => Promise.resolve(true) }

/**
 * Sets the CORS headers of the response if any API key lists the domain of the page, so that the page can
 * read the response. Returns false for all other pages, which get no CORS headers. Whether a page may use its
 * API key is decided later, by the credentials.
 */
export async function shareWithOrigin(
  { headers: { origin } }: IncomingMessage,
  response: ServerResponse,
  origins: SharedOrigins,
): Promise<boolean> {
  if (origin === undefined) return false
  response.setHeader('vary', 'origin')
  if (!(await origins.isKnown(origin))) return false
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', exposedHeaders.join(', '))
  return true
}

/**
 * Answers the preflight request of a browser if the page may call the server. Returns false, and answers
 * nothing, if it may not.
 * @param methods the methods of the path, separated by commas
 */
export async function answerPreflight(
  request: IncomingMessage,
  response: ServerResponse,
  origins: SharedOrigins,
  methods: string,
): Promise<boolean> {
  const asks = request.headers['access-control-request-method'] !== undefined
  if (!asks || !(await shareWithOrigin(request, response, origins))) return false
  response.setHeader('access-control-allow-methods', methods)
  response.setHeader('access-control-allow-headers', allowedHeaders.join(', '))
  response.setHeader('access-control-max-age', preflightSeconds)
  response.writeHead(204).end()
  return true
}
