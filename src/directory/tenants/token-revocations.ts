import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Bus, Kv } from '../../engine/engine.ts'
import type { Tenant } from '../../model/address.ts'
import { tokensFence } from '../fence-names.ts'
import { tenantKeys, tenantPart } from '../organizations/organization-keys.ts'
import { type RevocationRecord, readRecord, revocationRecordType } from '../store/records.ts'
import { TransactionRunner } from '../store/transaction.ts'
import { credentialsRevokedTopic, encodeCredentialsRevoked } from './credentials-revoked.ts'

export interface RevocationsOptions {
  readonly kv: Kv
  readonly bus: Bus
  readonly clock: Clock
}

/** Revocations of the realtime tokens of users. */
export class TokenRevocations {
  readonly #options: RevocationsOptions
  readonly #transactions: TransactionRunner

  constructor(options: RevocationsOptions) {
    this.#options = options
    this.#transactions = new TransactionRunner(options.kv)
  }

  /**
   * Returns the time until which tokens issued for a user are rejected (epoch milliseconds); -1 if they were
   * never revoked.
   */
  async revokedUntil(tenant: Tenant, userId: string): Promise<number> {
    const key = tenantKeys.revocation(userId)
    const [value = null] = await this.#options.kv.get(tenantPart(tenant), [key])
    return value === null ? -1 : readRecord(revocationRecordType, { key, value }).until
  }

  /**
   * Revokes all tokens issued for a user until now. Resolves when that is durable, with the new
   * `revokedUntil`. It is later than any earlier one, and so are the times of tokens that were issued in
   * between.
   */
  async revoke(tenant: Tenant, userId: string): Promise<number> {
    const { bus, clock } = this.#options
    const { result: until } = await this.#transactions.run(tenantPart(tenant), async (transaction) => {
      const key = tenantKeys.revocation(userId)
      const earlier = await transaction.get(key, revocationRecordType)
      const record: RevocationRecord = { until: Math.max(clock.now(), (earlier?.until ?? 0) + 1) }
      transaction.put(key, record)
      transaction.raise([tokensFence(tenant, userId)])
      transaction.put(tenantKeys.revocationMark, { id: randomUUID() })
      return record.until
    })
    bus.publish(credentialsRevokedTopic, encodeCredentialsRevoked({ kind: 'tokens', tenant, userId }))
    return until
  }
}
