import { randomUUID } from 'node:crypto'
import type { ApiError } from '../base/errors.ts'

/**
 * Security headers of all responses with data. They prevent browsers from framing, caching, sniffing or
 * executing the response.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * Matches a request id of a caller that the server uses unchanged. Such an id is safe in a log line and in a
 * header.
 */
const saneRequestId = /^[\w.:-]{1,128}$/

/** Returns the request id of the caller if it is valid; otherwise a new id. */
export const requestIdOf = (given: unknown): string =>
  typeof given === 'string' && saneRequestId.test(given) ? given : randomUUID()

/** Returns the body of an error response. */
export const errorEnvelope = ({ code, status, message, details }: ApiError): object => ({
  error: { status, message, details: { ...details, code } },
})

/**
 * Returns the complete text of an HTTP error response, after which the connection ends. Use it if Node
 * provides no response object.
 * @param requestId id from the caller; an invalid id is replaced by a new one
 * @param headers in addition to the headers that every response has
 */
export function rawResponse(
  error: ApiError,
  requestId?: unknown,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = JSON.stringify(errorEnvelope(error))
  const all = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestIdOf(requestId),
    connection: 'close',
    ...securityHeaders,
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${[`HTTP/1.1 ${error.httpCode} Error`, ...lines].join('\r\n')}\r\n\r\n${body}`
}
