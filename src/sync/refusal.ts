import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, invalid } from '../errors.ts'
import { rawAnswer } from '../model/raw-answer.ts'

/** Versions of the websocket protocol that are spoken here, told to those who ask for another (RFC 6455 4.2.2). */
const versions = { 'sec-websocket-version': '13, 8' }

export const nothingElsewhere = new ApiError('NOT_FOUND', 'websockets are at /sync/…')

export const badHandshake = (problem: string): ApiError => invalid(`no websocket handshake: ${problem}`)

/** Answers an upgrade that cannot be accepted, not even to be closed with a code, and ends the connection. */
export function refuseUpgrade({ headers }: IncomingMessage, connection: Duplex, error: ApiError): void {
  // Half-open clients would stay for ever.
  connection.once('finish', () => connection.destroy())
  connection.end(rawAnswer(error, { requestId: headers['x-request-id'], headers: versions }))
}
