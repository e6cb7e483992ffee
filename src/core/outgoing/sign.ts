import { createHmac } from 'node:crypto'

/** The parts of a request that are signed. */
interface Signed {
  /** Id of the message. It is the same in all attempts, so that receivers can detect repetitions. */
  readonly id: string
  /** Time of the attempt, in epoch milliseconds. */
  readonly at: number
  /** The body of the request. */
  readonly body: Uint8Array
}

/**
 * Returns the headers of Standard Webhooks (https://www.standardwebhooks.com). During the rotation of a
 * secret there are two secrets, and the headers contain a signature with each of them, because the receiver
 * may have either secret.
 * @param secrets each is `whsec_` followed by base64
 */
export function signatureHeaders({ id, at, body }: Signed, secrets: readonly string[]) {
  const timestamp = String(Math.floor(at / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/**
 * Returns the header that authenticates the basic service to its receiver with the stored token. Returns no
 * header if the token is empty.
 */
export const tokenHeaders = (authToken: string): Readonly<Record<string, string>> =>
  authToken === '' ? {} : { authorization: `Basic ${authToken}` }
