import type { Clock } from '../../base/clock.ts'
import type { Tenant } from '../../model/address.ts'
import type { Bus } from '../../store/engine.ts'
import { type MintingSecretList, type MintingSecretRecord, mintingSecretListType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import type { TenantStore } from './tenant-store.ts'
import { credentialsRevokedTopic } from './token-revocations.ts'
import { workspaceKeys } from './workspace-keys.ts'
import { CredentialGenerator, noSuchApiKey } from './workspace-service.ts'

/**
 * The secrets with which the backends of an API key sign their own realtime tokens. An API key has at most
 * two of them: the current secret and, during a rotation, the previous one.
 */
export class MintingSecrets {
  readonly #tenants: TenantStore
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #generator = new CredentialGenerator()

  constructor(tenants: TenantStore, bus: Bus, clock: Clock) {
    this.#tenants = tenants
    this.#bus = bus
    this.#clock = clock
  }

  /** Returns the valid secrets of an API key, newest first. */
  list(tenant: Tenant): Promise<readonly MintingSecretRecord[]> {
    return validSecrets(this.#tenants.read(), tenant, this.#clock.now())
  }

  /**
   * Creates a secret. If there is a current secret, it stays valid for `graceSeconds`. Older secrets become
   * invalid immediately.
   * @throws ApiError NOT_FOUND if the API key does not exist
   */
  async reset(tenant: Tenant, graceSeconds: number): Promise<MintingSecretRecord> {
    const now = this.#clock.now()
    const made = { id: this.#generator.id('mint'), secret: this.#generator.secret(), createdAt: now }
    await this.#change(tenant, async (transaction) => {
      const [current] = await validSecrets(transaction, tenant, now)
      const isKept = current !== undefined && graceSeconds > 0
      return [made, ...(isKept ? [{ ...current, validUntil: now + graceSeconds * 1000 }] : [])]
    })
    return made
  }

  /**
   * Deletes all secrets of an API key. All tokens that were signed with these secrets become invalid.
   * @throws ApiError NOT_FOUND if the API key does not exist
   */
  delete(tenant: Tenant): Promise<void> {
    return this.#change(tenant, () => Promise.resolve([]))
  }

  async #change(
    tenant: Tenant,
    next: (transaction: Transaction) => Promise<readonly MintingSecretRecord[]>,
  ): Promise<void> {
    await this.#tenants.change(async (transaction) => {
      if ((await transaction.get(workspaceKeys.apiKey(tenant))) === null) throw noSuchApiKey()
      const secrets = await next(transaction)
      const key = workspaceKeys.mintingSecrets(tenant)
      if (secrets.length === 0) transaction.delete(key)
      else transaction.put(key, { secrets } satisfies MintingSecretList)
    })
    credentialsRevokedTopic.publish(this.#bus, { kind: 'mintingSecrets', tenant })
  }
}

async function validSecrets(
  transaction: Transaction,
  tenant: Tenant,
  now: number,
): Promise<readonly MintingSecretRecord[]> {
  const record = await transaction.get(workspaceKeys.mintingSecrets(tenant), mintingSecretListType)
  return (record?.secrets ?? []).filter((secret) => isValidSecret(secret, now))
}

/** Returns whether a secret is still valid at `now` (epoch milliseconds). */
export const isValidSecret = (
  { validUntil }: Pick<MintingSecretRecord, 'validUntil'>,
  now: number,
): boolean => validUntil === undefined || validUntil > now
