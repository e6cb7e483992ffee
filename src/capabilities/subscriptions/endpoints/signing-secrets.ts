import { randomBytes } from 'node:crypto'

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
