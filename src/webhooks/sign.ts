import { createHmac } from 'node:crypto'

/** The signed parts of a request. */
export interface Signed {
  /** Message id, which is the same in all attempts, so that receivers can detect repetitions. */
  readonly id: string
  /** Epoch milliseconds of the attempt. */
  readonly at: number
  /** The bytes of the body. */
  readonly body: Uint8Array
}

/**
 * Returns the headers of Standard Webhooks (https://www.standardwebhooks.com). During a rotation there are several
 * secrets and one signature for each, so that a receiver can have any of them.
 * @param secrets each is `whsec_` and base64
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

/** Returns the header that authenticates the basic service to its receiver, with the stored token; no header for ''. */
export const tokenHeaders = (authToken: string): Readonly<Record<string, string>> =>
  authToken === '' ? {} : { authorization: `Basic ${authToken}` }
