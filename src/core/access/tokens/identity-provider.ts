import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import type { ClaimNames } from '../../config/option-parsers.ts'
import type { TenantStore } from '../../directory/tenants/tenant-store.ts'
import { idProblem, type Tenant } from '../../model/address.ts'
import type { Identity } from '../identity.ts'
import { findMisspelledClaim, type MisspelledClaim } from './claims.ts'
import {
  clockToleranceSeconds,
  type ExternalTokens,
  TokenRejectedError,
  tokenProblemOf,
} from './realtime-tokens.ts'

/**
 * Accepted algorithms. They are all asymmetric, so the published keys can only verify tokens, not sign them.
 */
const algorithms = ['RS256', 'ES256']
/**
 * Time in ms for which fetched keys are used. If the provider withdraws a key, this server accepts the key
 * until this time has passed.
 */
const keysMs = 600_000

interface IdentityProviderOptions {
  /** URL of the JSON Web Key Set (RFC 7517 5). */
  readonly jwksUrl: string
  readonly issuer: string
  readonly audience: string
  readonly claims: ClaimNames
  /** API key for tokens that do not contain an API key. */
  readonly apiKey: string
  readonly tenantOf: (apiKey: string) => Promise<Tenant | null>
  readonly clock: Clock
  /**
   * Called with an unknown claim whose name resembles the name of a configured claim that the token does not
   * have. The token stays valid, because the provider may really have a claim with this name.
   */
  readonly onMisspelledClaim: (claim: MisspelledClaim) => void
  /** Minimum interval in ms between two fetches that are caused by an unknown key. Default 30,000. */
  readonly refetchMs?: number
  /**
   * Timeout in ms for fetching the keys. Default 5,000. This is less than the time limit for the
   * authentication of a connection.
   */
  readonly fetchMs?: number
}

/**
 * Verifies the tokens of an identity provider. The tokens are JWTs. The provider signs them, and publishes
 * the keys that verify them.
 */
export class IdentityProvider implements ExternalTokens {
  readonly algorithms: readonly string[] = algorithms
  readonly #options: IdentityProviderOptions
  readonly #keys: JWTVerifyGetKey

  constructor(options: IdentityProviderOptions) {
    this.#options = options
    this.#keys = publishedKeys(options)
  }

  /** Returns the identity of a token. The caller must check the expiry. @throws TokenRejectedError */
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
      agent: null,
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

  /**
   * Returns the tenant for which a token is valid; null if the API key of the token does not exist.
   * @throws TokenRejectedError
   */
  async #tenantOf(payload: JWTPayload): Promise<Tenant | null> {
    const { claims, tenantOf } = this.#options
    const apiKey = claims.apiKey === null ? this.#options.apiKey : payload[claims.apiKey]
    if (typeof apiKey !== 'string') throw new TokenRejectedError('claims')
    return tenantOf(apiKey)
  }
}

/**
 * Returns a function that finds the published key for a token. If the provider is unavailable, the error of
 * this function must not count as an invalid token.
 */
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
      throw new TokenRejectedError('provider', null, { cause: error })
    }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Creates the configured identity provider. Returns null if none is configured. Tokens that do not contain an
 * API key get that of `first`.
 */
export function createIdentityProvider(
  { jwtJwksUrl, jwtIssuer, jwtAudience, jwtClaims }: Config,
  first: Tenant,
  tenants: TenantStore,
  clock: Clock,
  onMisspelledClaim: IdentityProviderOptions['onMisspelledClaim'],
): IdentityProvider | null {
  if (jwtJwksUrl === null || jwtIssuer === null || jwtAudience === null) return null
  return new IdentityProvider({
    jwksUrl: jwtJwksUrl,
    issuer: jwtIssuer,
    audience: jwtAudience,
    claims: jwtClaims,
    apiKey: first.apiKey,
    tenantOf: (apiKey) => tenants.tenantOf(apiKey),
    clock,
    onMisspelledClaim,
  })
}
