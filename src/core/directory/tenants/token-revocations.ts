import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import * as s from '../../base/schema.ts'
import type { Tenant } from '../../model/address.ts'
import { addressSchemas } from '../../model/address-schemas.ts'
import type { Bus, Kv } from '../../store/engine.ts'
import { readRecord } from '../../store/stored-record.ts'
import { Topic } from '../../store/topic.ts'
import { tokensFence } from '../organizations/access-change.ts'
import { tenantKeys, tenantPart } from '../organizations/organization-keys.ts'
import { type RevocationRecord, revocationRecordType } from '../store/records.ts'
import { TransactionRunner } from '../store/transaction.ts'

const { tenant } = addressSchemas

/** Specifies the credentials whose validity must be checked again. */
const revokedSchema = s.variant('kind', [
  s.object({ kind: s.literal('authTokens'), tenant }),
  s.object({ kind: s.literal('domains'), tenant }),
  s.object({ kind: s.literal('mintingSecrets'), tenant }),
  s.object({ kind: s.literal('tokens'), tenant, userId: s.string }),
])
export type CredentialsRevoked = s.TypeOf<typeof revokedSchema>

/** Messages about credentials that may no longer be valid. */
export const credentialsRevokedTopic = new Topic('access.withdrawal', revokedSchema)

/** Stores revocations of the realtime tokens of users. */
export class TokenRevocations {
  readonly #kv: Kv
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #transactions: TransactionRunner

  constructor(kv: Kv, bus: Bus, clock: Clock) {
    this.#kv = kv
    this.#bus = bus
    this.#clock = clock
    this.#transactions = new TransactionRunner(kv)
  }

  /**
   * Returns the times up to which issued tokens of users are rejected, in epoch milliseconds. Returns -1 for a user whose
   * tokens were never revoked.
   */
  async revokedUntil(tenant: Tenant, userIds: readonly string[]): Promise<readonly number[]> {
    const revocations = userIds.map(tenantKeys.revocation)
    const values = await this.#kv.get(tenantPart(tenant), revocations)
    return revocations.map((key, index) => {
      const value = values[index] ?? null
      return value === null ? -1 : readRecord(revocationRecordType, { key, value }).until
    })
  }

  /**
   * Revokes all tokens that were issued for a user until now. Resolves with the new `revokedUntil` when the
   * revocation is durable. The new `revokedUntil` is later than the previous one, and later than the issue
   * time of every existing token.
   */
  async revoke(tenant: Tenant, userId: string): Promise<number> {
    const until = await this.#transactions.run(tenantPart(tenant), async (transaction) => {
      const key = tenantKeys.revocation(userId)
      const earlier = await transaction.get(key, revocationRecordType)
      const record: RevocationRecord = { until: Math.max(this.#clock.now(), (earlier?.until ?? 0) + 1) }
      transaction.put(key, record)
      transaction.raise([tokensFence(tenant, userId)])
      transaction.put(tenantKeys.revocationMark, { id: randomUUID() })
      return record.until
    })
    credentialsRevokedTopic.publish(this.#bus, { kind: 'tokens', tenant, userId })
    return until
  }
}
