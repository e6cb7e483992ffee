import { randomUUID } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../clock.ts'
import type { Tenant } from '../model/address.ts'
import { type Claims, identityOf } from './claims.ts'
import type { Identity } from './identity.ts'

const issuer = 'weft'
const algorithm = 'HS256'
/** For `nbf` of tokens minted elsewhere. An expired token is refused at once: its sockets end at that moment too. */
const clockToleranceSeconds = 5
/** A token travels in a URL or header; longer ones are refused unread. */
export const tokenLengthMax = 24_576
/** HMAC-SHA256 keys are at least as long as its output (RFC 7518 3.2). */
const secretBytesMin = 32

export type TokenProblem = 'missing' | 'malformed' | 'signature' | 'expired' | 'claims' | 'tenant' | 'timeout'

const problemTexts: Record<TokenProblem, string> = {
  missing: 'a token is required',
  malformed: 'the token is not a JWT signed with HS256',
  signature: 'the token is not signed by this server',
  expired: 'the token has expired',
  claims: 'the token lacks a claim or has one of the wrong kind',
  tenant: 'the token is for an API key that does not exist',
  timeout: 'the token could not be checked in time',
}

/** The token is not accepted. The message may be shown to the client; `reason` is the label of the metric. */
export class TokenRefused extends Error {
  readonly reason: TokenProblem
  constructor(reason: TokenProblem) {
    super(problemTexts[reason])
    this.name = 'TokenRefused'
    this.reason = reason
  }
}

export interface TokensOptions {
  /** Signs, and is accepted. At least 32 bytes of UTF-8. */
  readonly secret: string
  /** Is accepted too, while rotating. */
  readonly previousSecret: string | null
  readonly clock: Clock
  readonly isTenant: (tenant: Tenant) => Promise<boolean>
}

export interface Issued {
  readonly token: string
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** Realtime tokens: JWTs signed with HS256 by secrets of this server. */
export class Tokens {
  readonly #secrets: readonly Uint8Array[]
  readonly #clock: Clock
  readonly #isTenant: TokensOptions['isTenant']

  /** @throws RangeError when a secret is too short */
  constructor({ secret, previousSecret, clock, isTenant }: TokensOptions) {
    this.#secrets = [secret, previousSecret].filter((each) => each !== null).map(secretBytes)
    this.#clock = clock
    this.#isTenant = isTenant
  }

  /** A token that `verify` turns into `identity` again. Its `expiresAt` (epoch milliseconds) is rounded down to seconds. */
  async issue(identity: Identity): Promise<Issued> {
    const expiresAt = Math.floor(identity.expiresAt / 1000)
    const { tenant, name, email, admin, grants } = identity
    const claims: Claims = {
      ws: tenant.workspaceId,
      key: tenant.apiKey,
      name,
      email,
      admin,
      ...(grants && { grants }),
    }
    const token = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(identity.userId)
      .setIssuedAt(Math.floor(this.#clock.now() / 1000))
      .setExpirationTime(expiresAt)
      .setJti(randomUUID())
      .sign(this.#secrets[0] as Uint8Array)
    return { token, expiresAt }
  }

  /** @throws TokenRefused */
  async verify(token: string): Promise<Identity> {
    if (token.length > tokenLengthMax) throw new TokenRefused('malformed')
    const identity = identityOf(await this.#payload(token))
    if (identity === null) throw new TokenRefused('claims')
    if (this.#clock.now() >= identity.expiresAt) throw new TokenRefused('expired')
    if (!(await this.#isTenant(identity.tenant))) throw new TokenRefused('tenant')
    return identity
  }

  async #payload(token: string): Promise<JWTPayload> {
    let problem: TokenProblem = 'signature'
    for (const secret of this.#secrets) {
      try {
        return (await jwtVerify(token, secret, this.#verifyOptions())).payload
      } catch (error) {
        problem = problemOf(error)
        if (problem !== 'signature') break
      }
    }
    throw new TokenRefused(problem)
  }

  #verifyOptions() {
    return {
      algorithms: [algorithm],
      issuer,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(this.#clock.now()),
    }
  }
}

function secretBytes(secret: string): Uint8Array {
  const bytes = new TextEncoder().encode(secret)
  if (bytes.length < secretBytesMin)
    throw new RangeError(`a signing secret has at least ${secretBytesMin} bytes`)
  return bytes
}

function problemOf(error: unknown): TokenProblem {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTInvalid) return 'claims'
  if (error instanceof errors.JOSEError) return 'malformed'
  throw error
}
