import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, SignJWT } from 'jose'
import type { Clock } from '../../base/clock.ts'
import { attempt } from '../../base/errors.ts'
import type { AgentRestrictions } from '../../config/agent-policies.ts'
import type { Tenant } from '../../model/address.ts'
import type { Identity } from '../identity.ts'
import { type Claims, describeMisspelledClaim, identityFromClaims, toAgentClaim } from './claims.ts'
import type { MintedTokens } from './minted.ts'
import { SignedPayloads } from './signed-payloads.ts'

const issuer = 'weft'
const algorithm = 'HS256'
/**
 * Tolerance in seconds for the claim `nbf` of tokens that other parties mint. There is no tolerance for the
 * expiry: an expired token is rejected immediately, because the sockets that use the token are also closed at
 * its expiry.
 */
export const clockToleranceSeconds = 5
/**
 * Maximum length of a token, in characters. A token is sent in a URL or a header. A longer token is rejected
 * without being read.
 */
export const tokenLengthMax = 24_576
/**
 * Minimum length of a secret, in bytes. A key of HMAC-SHA256 must be at least as long as the output (RFC 7518
 * 3.2).
 */
const secretBytesMin = 32

export type TokenProblem =
  | 'missing'
  | 'malformed'
  | 'signature'
  | 'expired'
  | 'claims'
  | 'tenant'
  | 'revoked'
  | 'origin'
  | 'timeout'
  | 'provider'
  | 'store'
  | 'authorize'

const problemTexts: Record<TokenProblem, string> = {
  missing: 'a token is required',
  malformed: 'the token is not a JWT with an algorithm that this server accepts',
  signature: 'the token is not signed with a key that this server accepts',
  expired: 'the token has expired',
  claims: 'a claim of the token is missing or not valid',
  tenant: 'the token is for an API key that does not exist',
  revoked: 'the token has been revoked',
  origin: 'pages of this origin may not use the API key of the token',
  timeout: 'the token could not be checked in time; try again',
  store: 'the token could not be checked, because the store is not available; try again',
  authorize: 'the backend could not decide about access to the document; try again',
  provider: 'the keys of the identity provider cannot be fetched; try again',
}

/**
 * Thrown if a token is rejected. The message may be sent to the client. `reason` is the value of the label of
 * the metric.
 */
export class TokenRejectedError extends Error {
  readonly reason: TokenProblem
  /**
   * Describes the wrong claim, without any value from the token. Null if it is not known which claim is
   * wrong.
   */
  readonly detail: string | null
  /** The API key that the rejected token contains; null if the token contains none or was not read. */
  claimedKey: string | null = null
  constructor(reason: TokenProblem, detail: string | null = null, options?: ErrorOptions) {
    super(detail ?? problemTexts[reason], options)
    this.name = 'TokenRejectedError'
    this.reason = reason
    this.detail = detail
  }
}

interface TokensOptions {
  /** Secret that signs and verifies tokens. It must have at least 32 bytes in UTF-8. */
  readonly secret: string
  /** Second secret that verifies tokens, for use during a rotation; null if there is none. */
  readonly previousSecret: string | null
  readonly clock: Clock
  readonly isTenant: (tenant: Tenant) => Promise<boolean>
  /**
   * Returns the times up to which issued tokens of users are rejected, in epoch milliseconds. Returns -1 for a user whose
   * tokens were never revoked. Each revocation returns a later time, also if the clock was set back.
   * Null if the revocations are unknown: such an object only issues tokens.
   */
  readonly revokedUntil: ((tenant: Tenant, userIds: readonly string[]) => Promise<readonly number[]>) | null
  /**
   * Verifies tokens that were signed with a minting secret of an API key. If null, such tokens are rejected.
   */
  readonly minted: Pick<MintedTokens, 'payloadOf' | 'isValid'> | null
  /** Verifies tokens of another issuer. If null, such tokens are rejected. */
  readonly foreign: ExternalTokens | null
  /** Restrictions of all agents, besides those of their tokens; null: none. */
  readonly agentPolicy: AgentRestrictions | null
}

/** Verifies the tokens of another issuer. */
export interface ExternalTokens {
  /** Signature algorithms of the issuer. They must not include the algorithm of the tokens of this server. */
  readonly algorithms: readonly string[]
  /**
   * Returns the identity of a token. The caller must check the expiry and revocations.
   * @throws TokenRejectedError
   */
  identityOf(token: string): Promise<Identity>
}

interface IssuedToken {
  readonly token: string
  /** Expiry of the token, in epoch seconds. */
  readonly expiresAt: number
}

/**
 * Issues and verifies realtime tokens. Verifies JWTs that were signed with secrets of this server (HS256),
 * and tokens of other trusted issuers.
 */
export class RealtimeTokens {
  readonly #secrets: readonly KeyObject[]
  readonly #payloads: SignedPayloads
  readonly #options: TokensOptions

  /** @throws RangeError if a secret is shorter than `secretBytesMin` */
  constructor(options: TokensOptions) {
    const { secret, previousSecret } = options
    this.#secrets = [secret, previousSecret].filter((each) => each !== null).map(secretKey)
    this.#payloads = new SignedPayloads(this.#secrets)
    this.#options = options
  }

  /**
   * Issues a token from which `verify` restores `identity`. The `expiresAt` of the identity, in epoch
   * milliseconds, is rounded down to seconds.
   */
  async issue(identity: Omit<Identity, 'issuedAt'>): Promise<IssuedToken> {
    const expiresAt = Math.floor(identity.expiresAt / 1000)
    const { tenant, name, email, admin, grants, agent } = identity
    const revoked = await this.#revokedUntil(identity)
    const claims: Claims = {
      ws: tenant.workspaceId,
      key: tenant.apiKey,
      name,
      email,
      admin,
      ...(revoked && { rev: revocationsOf(revoked) }),
      ...(grants && { grants }),
      ...(agent && { agent: toAgentClaim(agent) }),
    }
    const token = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(identity.userId)
      .setIssuedAt(this.#issuedAt(revoked ?? []))
      .setExpirationTime(expiresAt)
      .setJti(randomUUID())
      .sign(this.#secrets[0] as KeyObject)
    return { token, expiresAt }
  }

  /** Verifies a token, and returns its identity. @throws TokenRejectedError */
  async verify(token: string): Promise<Identity> {
    if (token.length > tokenLengthMax) throw new TokenRejectedError('malformed')
    const identity = this.#withServerPolicy(this.#withPastIssue(await this.#identityOf(token)))
    if (this.#options.clock.now() >= identity.expiresAt) throw new TokenRejectedError('expired')
    // Both are read in one tick, so that a store on another machine reads them in one round trip.
    const [isTenant, isRevoked] = await Promise.all([
      this.#options.isTenant(identity.tenant),
      this.isRevoked(identity),
    ])
    if (!isTenant) throw new TokenRejectedError('tenant')
    if (isRevoked) throw new TokenRejectedError('revoked')
    return identity
  }

  /**
   * Returns whether the token that an identity comes from was revoked after it was issued. If the tokens of a user are
   * revoked, this includes the tokens of agents that act for this user. The token of a server names the last
   * revocations before it, because the clocks of servers may be set back.
   */
  async isRevoked(identity: Identity): Promise<boolean> {
    const { minted } = this.#options
    const { tenant, issuedAt, revocations, mintingSecretId } = identity
    if (mintingSecretId !== undefined && !(await minted?.isValid(tenant, mintingSecretId))) return true
    const revoked = (await this.#revokedUntil(identity)) ?? []
    return revocations === undefined
      ? revoked.some((until) => issuedAt <= until)
      : revocations !== revocationsOf(revoked)
  }

  /** Returns `revokedUntil` of each user of a token; null if the revocations are unknown. */
  #revokedUntil(identity: Pick<Identity, 'tenant' | 'userId' | 'agent'>): Promise<readonly number[]> | null {
    return this.#options.revokedUntil?.(identity.tenant, tokenUsers(identity)) ?? null
  }

  #withServerPolicy(identity: Identity): Identity {
    const { agentPolicy } = this.#options
    const { agent } = identity
    if (agent === null || agentPolicy === null) return identity
    const policies = [...new Set([...agent.policies, ...agentPolicy.policies])]
    const names = [...new Set([...(agent.protected ?? []), ...(agentPolicy.protected ?? [])])]
    return { ...identity, agent: { ...agent, policies, ...(names.length > 0 && { protected: names }) } }
  }

  /**
   * Returns the identity with an issue time that is not in the future: a time in the future is replaced by 0.
   * Otherwise such a time would make the token immune to revocations.
   */
  #withPastIssue(identity: Identity): Identity {
    const latest = this.#options.clock.now() + clockToleranceSeconds * 1000
    return identity.issuedAt <= latest ? identity : { ...identity, issuedAt: 0 }
  }

  /**
   * Returns the issue time for a new token, in seconds with the precision of milliseconds. The issue time is
   * always later than the last revocation, so that a server of an earlier version accepts the new token.
   */
  #issuedAt(revoked: readonly number[]): number {
    return Math.max(this.#options.clock.now(), ...revoked.map((until) => until + 1)) / 1000
  }

  /**
   * Returns the identity of a token. The algorithm of the token determines which issuer's keys are tried. So
   * a key of one issuer is never tried for a token of another issuer.
   */
  async #identityOf(token: string): Promise<Identity> {
    const { foreign } = this.#options
    if (foreign?.algorithms.includes(algorithmOf(token))) return foreign.identityOf(token)
    const { payload, mintingSecretId } = await this.#payload(token)
    const identity = identityFromClaims(payload)
    const detail = describeMisspelledClaim(payload)
    if (detail !== null) throw new TokenRejectedError('claims', detail)
    if (identity === null) throw new TokenRejectedError('claims')
    return mintingSecretId === undefined ? identity : { ...identity, mintingSecretId }
  }

  async #payload(token: string): Promise<SomePayload> {
    try {
      const found = await this.#signedPayload(token)
      checkClaims(found.payload, Math.floor(this.#options.clock.now() / 1000))
      return found
    } catch (error) {
      throw new TokenRejectedError(tokenProblemOf(error))
    }
  }

  /**
   * Returns the payload of a token. Tries the secrets of the server, then the minting secrets of the API key
   * that the token contains.
   * @throws JOSEError if no secret has signed the token
   */
  async #signedPayload(token: string): Promise<SomePayload> {
    try {
      return { payload: this.#payloads.of(token) }
    } catch (error) {
      const { minted } = this.#options
      if (minted === null || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      return minted.payloadOf(token)
    }
  }
}

/** Returns the text that names the last revocations of the users of a token. */
const revocationsOf = (revokedUntil: readonly number[]): string => revokedUntil.join(' ')

/** Returns the users whose revocation also ends the token of an identity. */
export const tokenUsers = ({ userId, agent }: Pick<Identity, 'userId' | 'agent'>): readonly string[] =>
  agent === null || agent.onBehalfOf === null ? [userId] : [userId, agent.onBehalfOf]

interface SomePayload {
  readonly payload: JWTPayload
  readonly mintingSecretId?: string
}

/** Checks the registered claims of a token. @param now epoch seconds @throws TokenRejectedError */
function checkClaims({ iss, sub, exp, nbf = 0 }: JWTPayload, now: number): void {
  const isComplete = iss === issuer && sub !== undefined && typeof exp === 'number'
  if (!isComplete || typeof nbf !== 'number' || nbf > now + clockToleranceSeconds)
    throw new TokenRejectedError('claims')
  if (exp <= now - clockToleranceSeconds) throw new TokenRejectedError('expired')
}

/** Returns the name of the algorithm in the header of a token; '' if the text is not a JWT. */
const algorithmOf = (token: string): string => attempt(() => decodeProtectedHeader(token).alg ?? '', '')

function secretKey(secret: string): KeyObject {
  const bytes = Buffer.from(secret)
  if (bytes.length < secretBytesMin)
    throw new RangeError(`a signing secret has at least ${secretBytesMin} bytes`)
  return createSecretKey(bytes)
}

/**
 * Returns the reason why a token was rejected.
 * @throws `error` itself, if it does not mean that the token was rejected
 */
export function tokenProblemOf(error: unknown): TokenProblem {
  if (error instanceof TokenRejectedError) return error.reason
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTInvalid) return 'claims'
  if (error instanceof errors.JOSEError) return 'malformed'
  throw error
}
