import { createHmac, randomBytes } from 'node:crypto'

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

const secretBytes = 32

/** A record with a signing secret that can be rotated. */
interface Signing {
  readonly secret: string
  readonly previousSecret: { readonly secret: string; readonly until: number } | null
  readonly updatedAt: number
}

/** Creates a signing secret in the format of Standard Webhooks. */
export const generateSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/**
 * Returns the record with a new signing secret. The previous secret continues to sign for `graceSeconds`,
 * in addition to the new one.
 * @param now current time in epoch milliseconds
 */
export const rotateSecret = <R extends Signing>(
  record: R,
  secret: string,
  graceSeconds: number,
  now: number,
): R => ({
  ...record,
  secret,
  previousSecret: graceSeconds === 0 ? null : { secret: record.secret, until: now + graceSeconds * 1000 },
  updatedAt: now,
})

/** Returns the secrets that sign at `now` (epoch milliseconds), the current one first. */
export const signingSecrets = (
  { secret, previousSecret }: Pick<Signing, 'secret' | 'previousSecret'>,
  now: number,
): readonly string[] =>
  previousSecret !== null && previousSecret.until > now ? [secret, previousSecret.secret] : [secret]
