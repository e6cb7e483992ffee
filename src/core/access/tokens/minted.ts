import { createSecretKey, type KeyObject } from 'node:crypto'
import { decodeJwt, errors, type JWTPayload } from 'jose'
import type { Clock } from '../../base/clock.ts'
import { TtlCache } from '../../base/ttl-cache.ts'
import { isValidSecret, type MintingSecrets } from '../../directory/tenants/minting-secrets.ts'
import { idProblem, type Tenant } from '../../model/address.ts'
import { tenantName } from '../../store/key-encoding.ts'
import type { AccessChangeFeed } from '../access-change-feed.ts'
import { signedPayload } from './signed-payloads.ts'

/** Maximum number of API keys whose minting secrets are cached. */
const cachedMax = 1_000

interface MintingKey {
  readonly id: string
  readonly key: KeyObject
  /** End of the validity of the secret, in epoch milliseconds. */
  readonly validUntil?: number
}

/** The payload of a token, and the id of the minting secret that signed the token. */
interface MintedPayload {
  readonly payload: JWTPayload
  readonly mintingSecretId: string
}

/**
 * Verifies tokens that a backend has signed with a minting secret of its API key. The claims `ws` and `key`
 * of the token determine whose secrets are tried. So a secret is never tried for another API key.
 */
export class MintedTokens {
  readonly #secrets: Pick<MintingSecrets, 'list'>
  readonly #clock: Clock
  readonly #keys: TtlCache<readonly MintingKey[]>

  constructor(
    secrets: Pick<MintingSecrets, 'list'>,
    news: Pick<AccessChangeFeed, 'keepMs' | 'onWithdrawal'>,
    clock: Clock,
  ) {
    this.#secrets = secrets
    this.#clock = clock
    this.#keys = new TtlCache(clock, news.keepMs, cachedMax)
    news.onWithdrawal((withdrawal) => {
      if (withdrawal === null) this.#keys.forgetAll()
      else if (withdrawal.kind === 'mintingSecrets') this.#keys.forget(tenantName(withdrawal.tenant))
    })
  }

  /**
   * Returns the payload of a token.
   * @throws JOSEError unless a valid minting secret of the API key in the token has signed the token
   */
  async payloadOf(token: string): Promise<MintedPayload> {
    const tenant = claimedTenant(token)
    const keys = tenant === null ? [] : await this.#validKeys(tenant)
    for (const { id, key: secret } of keys) {
      const payload = payloadIfSigned(token, secret)
      if (payload !== null) return { payload, mintingSecretId: id }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }

  async isValid(tenant: Tenant, mintingSecretId: string): Promise<boolean> {
    return (await this.#validKeys(tenant)).some(({ id }) => id === mintingSecretId)
  }

  async #validKeys(tenant: Tenant): Promise<readonly MintingKey[]> {
    const keys = await this.#keys.get(tenantName(tenant), async () =>
      (await this.#secrets.list(tenant)).map(({ secret, ...others }) => ({
        ...others,
        key: createSecretKey(Buffer.from(secret)),
      })),
    )
    return keys.filter((key) => isValidSecret(key, this.#clock.now()))
  }
}

/**
 * Returns the API key and the workspace that a token claims to have; null if it does not contain both. Does
 * not verify the token.
 */
export function claimedTenant(token: string): Tenant | null {
  try {
    const { ws, key } = decodeJwt(token)
    return isId(ws) && isId(key) ? { workspaceId: ws, apiKey: key } : null
  } catch {
    return null
  }
}

const isId = (value: unknown): value is string => idProblem(value) === null

/**
 * Returns the payload if `key` has signed the token; otherwise returns null.
 * @throws JOSEError if the token is malformed
 */
function payloadIfSigned(token: string, key: KeyObject): JWTPayload | null {
  try {
    return signedPayload(token, [key])
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return null
    throw error
  }
}
