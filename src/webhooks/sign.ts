import { createHmac } from 'node:crypto'

/** What a signature covers. */
export interface Signed {
  /** Stays the same over all attempts: receivers tell by it what they have had. */
  readonly id: string
  /** Epoch milliseconds of the attempt. */
  readonly at: number
  /** The bytes that are sent. */
  readonly body: Uint8Array
}

/**
 * Headers of Standard Webhooks (https://www.standardwebhooks.com). Several secrets sign side by side while they are
 * rotated, so that a receiver may hold any of them.
 * @param secrets each `whsec_` and base64
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

/** Header by which receivers of the basic service know us: the token as it is stored; none for ''. */
export const tokenHeaders = (authToken: string): Readonly<Record<string, string>> =>
  authToken === '' ? {} : { authorization: `Basic ${authToken}` }
