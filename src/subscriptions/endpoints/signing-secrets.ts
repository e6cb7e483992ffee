import { randomBytes } from 'node:crypto'
import type { EndpointRecord } from '../webhook-records.ts'

const secretBytes = 32

/** A new signing secret, as Standard Webhooks spells them. */
export const generateSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** The endpoint with `secret` instead of the one it has, which signs, too, for a while. @param now epoch milliseconds */
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

/** The secrets that sign at `now` (epoch milliseconds), the current one first. */
export const signingSecrets = ({ secret, previousSecret }: EndpointRecord, now: number): readonly string[] =>
  previousSecret !== null && previousSecret.until > now ? [secret, previousSecret.secret] : [secret]
