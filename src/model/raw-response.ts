import { randomUUID } from 'node:crypto'
import type { ApiError } from '../errors.ts'

/** Responses are data: clients must not frame, cache, sniff or execute them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Request ids of callers that are adopted: they must fit in a log line and a header. */
const saneRequestId = /^[\w.:-]{1,128}$/

/** Returns the id of the request if it is valid, otherwise a new one. */
export const requestIdOf = (given: unknown): string =>
  typeof given === 'string' && saneRequestId.test(given) ? given : randomUUID()

/** Returns the body of an error response. */
export const errorEnvelope = ({ code, status, message, details }: ApiError): object => ({
  error: { status, message, details: { ...details, code } },
})

export interface RawResponseOptions {
  /** Id from the request; an invalid one is replaced. */
  readonly requestId?: unknown
  /** Headers in addition to those of every response. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Returns the bytes of a response after which the connection ends, for cases in which Node has no response
 * object.
 */
export function rawResponse(error: ApiError, { requestId, headers = {} }: RawResponseOptions = {}): string {
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
