import { randomUUID } from 'node:crypto'
import type { ApiError } from '../errors.ts'

/** Answers are data: nothing may frame, cache, guess or run them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Ids of callers that are taken over: what fits in a log line and a header. */
const saneRequestId = /^[\w.:-]{1,128}$/

/** The id that a request came with, if it is sane, else a new one. */
export const requestIdOf = (given: unknown): string =>
  typeof given === 'string' && saneRequestId.test(given) ? given : randomUUID()

/** The failure envelope. */
export const errorEnvelope = ({ code, status, message, details }: ApiError): object => ({
  error: { status, message, details: { ...details, code } },
})

export interface RawResponseOptions {
  /** As the request says it; anything that is not sane is replaced. */
  readonly requestId?: unknown
  /** Beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The bytes of an answer after which the connection ends, where Node has no response object for it. */
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
