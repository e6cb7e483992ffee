import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Clock } from '../../clock.ts'
import type { ClaimNames } from '../../config/claim-names.ts'
import { idProblem, type Tenant } from '../../model/address.ts'
import type { Identity } from '../identity.ts'
import { findMisspelledClaim, type MisspelledClaim } from './misspelled-claims.ts'
import {
  clockToleranceSeconds,
  type ExternalTokens,
  TokenRejectedError,
  tokenProblemOf,
} from './realtime-tokens.ts'

/** Asymmetric ones only: with them nobody who can read the keys can sign. */
const algorithms = ['RS256', 'ES256']
/** Fetched keys are used for so long; keys that were withdrawn as well. */
const keysMs = 600_000

export interface IdentityProviderOptions {
  /** Of the JSON Web Key Set (RFC 7517 5). */
  readonly jwksUrl: string
  readonly issuer: string
  readonly audience: string
  readonly claims: ClaimNames
  /** What tokens are for when no claim says so. */
  readonly apiKey: string
  readonly tenantOf: (apiKey: string) => Promise<Tenant | null>
  readonly clock: Clock
  /** Gets a claim that misspells a configured one that the token does not have. The token stays valid: the provider may have such a claim. */
  readonly onMisspelledClaim: (claim: MisspelledClaim) => void
  /** An unknown key makes the keys be fetched again, at most this often, in milliseconds; 30 s. */
  readonly refetchMs?: number
  /** Time to fetch the keys, in milliseconds; 5 s, less than a connection has to be authenticated. */
  readonly fetchMs?: number
}

/** Tokens of a third party that knows the users: JWTs signed with keys that it publishes. */
export class IdentityProvider implements ExternalTokens {
  readonly algorithms: readonly string[] = algorithms
  readonly #options: IdentityProviderOptions
  readonly #keys: JWTVerifyGetKey

  constructor(options: IdentityProviderOptions) {
    this.#options = options
    this.#keys = publishedKeys(options)
  }

  /** Whether it has expired is asked by who calls. @throws TokenRejectedError */
  async identityOf(token: string): Promise<Identity> {
    const payload = await this.#payload(token)
    this.#reportMisspelledClaim(payload)
    const { claims } = this.#options
    const userId = payload[claims.userId]
    const { exp, iat = 0 } = payload
    if (typeof userId !== 'string' || idProblem(userId) !== null) throw new TokenRejectedError('claims')
    if (exp === undefined || typeof iat !== 'number') throw new TokenRejectedError('claims')
    const tenant = await this.#tenantOf(payload)
    if (tenant === null) throw new TokenRejectedError('tenant')
    return {
      tenant,
      userId,
      name: textOf(payload[claims.name]),
      email: textOf(payload[claims.email]),
      admin: claims.admin !== null && payload[claims.admin] === true,
      grants: null,
      issuedAt: Math.round(iat * 1000),
      expiresAt: exp * 1000,
    }
  }

  #reportMisspelledClaim(payload: JWTPayload): void {
    const { claims, onMisspelledClaim } = this.#options
    const read = Object.values(claims).filter((name) => name !== null)
    const misspelled = findMisspelledClaim(payload, read)
    if (misspelled !== null) onMisspelledClaim(misspelled)
  }

  async #payload(token: string): Promise<JWTPayload> {
    const { issuer, audience, clock } = this.#options
    try {
      const verified = await jwtVerify(token, this.#keys, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.now()),
      })
      return verified.payload
    } catch (error) {
      throw error instanceof TokenRejectedError ? error : new TokenRejectedError(tokenProblemOf(error))
    }
  }

  /** Null when it is of no API key. */
  async #tenantOf(payload: JWTPayload): Promise<Tenant | null> {
    const { claims, tenantOf } = this.#options
    const apiKey = claims.apiKey === null ? this.#options.apiKey : payload[claims.apiKey]
    if (typeof apiKey !== 'string') throw new TokenRejectedError('claims')
    return tenantOf(apiKey)
  }
}

/** What the provider cannot tell now is no fault of the token. */
function publishedKeys(options: IdentityProviderOptions): JWTVerifyGetKey {
  const { jwksUrl, fetchMs = 5_000, refetchMs = 30_000 } = options
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: fetchMs,
    cacheMaxAge: keysMs,
    cooldownDuration: refetchMs,
  })
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        throw new TokenRejectedError('signature')
      throw new TokenRejectedError('provider', { cause: error })
    }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
