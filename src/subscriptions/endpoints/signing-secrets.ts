import { randomBytes } from 'node:crypto'
import type { EndpointRecord } from '../webhook-records.ts'

const secretBytes = 32

/** Creates a signing secret in the format of Standard Webhooks. */
export const generateSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/**
 * Returns the endpoint with a new signing secret. The previous secret continues to sign for `graceSeconds`,
 * in addition to the new one.
 * @param now current time in epoch milliseconds
 */
export const rotateSecret = (
  endpoint: EndpointRecord,
  secret: string,
  graceSeconds: number,
  now: number,
): EndpointRecord => ({
  ...endpoint,
  secret,
  previousSecret: graceSeconds === 0 ? null : { secret: endpoint.secret, until: now + graceSeconds * 1000 },
  updatedAt: now,
})

/** Returns the secrets that sign at `now` (epoch milliseconds), the current one first. */
export const signingSecrets = ({ secret, previousSecret }: EndpointRecord, now: number): readonly string[] =>
  previousSecret !== null && previousSecret.until > now ? [secret, previousSecret.secret] : [secret]
