import { type CounterRecord, counterRecordType } from '../../core/directory/store/records.ts'
import { Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Bus, Kv } from '../../core/store/engine.ts'
import { encodeChange, type SubscriptionCache, subscriptionsTopic } from './subscription-cache.ts'
import { subscriptionKeys as keys, subscriptionsPart } from './webhook-records.ts'

/** Stores the webhook configuration of API keys. After each change, it notifies the caches of all nodes. */
export class SubscriptionStore {
  readonly #kv: Kv
  readonly #bus: Bus
  readonly #subscriptions: SubscriptionCache
  readonly #transactions: TransactionRunner

  constructor(kv: Kv, bus: Bus, subscriptions: SubscriptionCache) {
    this.#kv = kv
    this.#bus = bus
    this.#subscriptions = subscriptions
    this.#transactions = new TransactionRunner(kv)
  }

  /** Returns a transaction that only reads. Its writes would never be committed. */
  read(tenant: Tenant): Transaction {
    return new Transaction(this.#kv, subscriptionsPart(tenant))
  }

  /**
   * Changes the configuration of an API key. Resolves when the change is durable and the caches have been
   * notified. Changes of the same API key run one after the other.
   * @throws ApiError ABORTED if conflicts with concurrent changes continue, or the errors of `work`; in both
   * cases nothing has changed
   */
  async change<T>(tenant: Tenant, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      const { result } = await this.#transactions.run(subscriptionsPart(tenant), (transaction) =>
        revised(transaction, work),
      )
      return result
    } finally {
      // Also notifies after an error, because the commit may have succeeded nevertheless.
      this.#subscriptions.forget(tenant)
      this.#bus.publish(subscriptionsTopic, encodeChange(tenant))
    }
  }
}

/**
 * Runs `work`, and increments the revision. The revision is read before `work` runs. A concurrent change
 * therefore always conflicts, even if `work` only scans.
 */
async function revised<T>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const revision = await transaction.get(keys.revision, counterRecordType)
  const result = await work(transaction)
  if (transaction.written().length > 0)
    transaction.put(keys.revision, { count: (revision?.count ?? 0) + 1 } satisfies CounterRecord)
  return result
}
