import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, invalid } from '../../base/errors.ts'
import { rawResponse } from '../../model/raw-response.ts'

/**
 * Response header with the supported websocket versions (RFC 6455 4.2.2), for clients that request another
 * version.
 */
const supportedVersions = { 'sec-websocket-version': '13, 8' }

const documentPath = '/sync/{organizationId}/{documentId}/{editorId}'

/** @param target path of the request, with its query */
export const unknownPath = (target: string): ApiError =>
  new ApiError(
    'websocket/unknown-path',
    `there is no websocket at this path; ${
      target.startsWith('/hocuspocus/')
        ? 'connect to /hocuspocus, and name the document in the provider, as organizationId/documentId/editorId'
        : `connect to ${documentPath} or /hocuspocus`
    }`,
  )

export const invalidHandshake = (problem: string): ApiError =>
  invalid('websocket/invalid-handshake', `invalid websocket handshake: ${problem}`)

const token = /^[!#$%&'*+\-.^`|~\w]+$/
const supportedVersion = /^ *(13|8) *$/
const key = /^[+/0-9A-Za-z]{22}==$/

/**
 * Returns the error if an upgrade request is not a valid websocket handshake (RFC 6455 4.2.1); null if it is
 * valid. Accepts the same requests as `ws`. The method is not checked, because the HTTP server passes only
 * GET requests to this function.
 */
export function handshakeError({ headers }: IncomingMessage): ApiError | null {
  const protocols = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  const checks = {
    'sec-websocket-key': key.test(headers['sec-websocket-key'] ?? ''),
    'sec-websocket-version': supportedVersion.test(headers['sec-websocket-version'] ?? ''),
    'sec-websocket-protocol':
      protocols.every((name) => token.test(name)) && new Set(protocols).size === protocols.length,
  }
  for (const [name, isValid] of Object.entries(checks))
    if (!isValid) return invalidHandshake(`missing or invalid ${name} header`)
  return null
}

/**
 * Sends an HTTP error for an upgrade that cannot be completed, and ends the connection.
 * @param added headers of the response in addition to those of all rejections
 */
export function rejectUpgrade(
  { headers }: IncomingMessage,
  connection: Duplex,
  error: ApiError,
  added: Readonly<Record<string, string>> = {},
): void {
  // Without `destroy`, a half-open client would keep the connection indefinitely.
  connection.once('finish', () => connection.destroy())
  connection.end(rawResponse(error, headers['x-request-id'], { ...supportedVersions, ...added }))
}
