import { type CounterRecord, counterRecordType } from '../directory/store/records.ts'
import { Transaction, TransactionRunner } from '../directory/store/transaction.ts'
import type { Bus, Kv } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'
import { encodeChange, type SubscriptionCache, subscriptionsTopic } from './subscription-cache.ts'
import { subscriptionKeys as keys, subscriptionsPart } from './subscription-keys.ts'

interface SubscriptionStoreDependencies {
  readonly kv: Kv
  readonly bus: Bus
  readonly subscriptions: SubscriptionCache
}

/** Store of the webhook configuration of API keys. It notifies the caches of all nodes of changes. */
export class SubscriptionStore {
  readonly #dependencies: SubscriptionStoreDependencies
  readonly #transactions: TransactionRunner

  constructor(dependencies: SubscriptionStoreDependencies) {
    this.#dependencies = dependencies
    this.#transactions = new TransactionRunner(dependencies.kv)
  }

  /** Returns a transaction for reads only: its writes are never committed. */
  read(tenant: Tenant): Transaction {
    return new Transaction(this.#dependencies.kv, subscriptionsPart(tenant))
  }

  /**
   * Changes the configuration of an API key. Resolves when the change is durable and the caches are notified.
   * Changes of one API key run one after the other.
   * @throws ApiError ABORTED if conflicts continue; the errors of `work`; then nothing has changed
   */
  async change<T>(tenant: Tenant, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { bus, subscriptions } = this.#dependencies
    try {
      const { result } = await this.#transactions.run(subscriptionsPart(tenant), (transaction) =>
        revised(transaction, work),
      )
      return result
    } finally {
      // Also done after an error, because the commit may have succeeded.
      subscriptions.forget(tenant)
      bus.publish(subscriptionsTopic, encodeChange(tenant))
    }
  }
}

/**
 * Runs `work`, and increments the revision. The revision is read first, so that a concurrent change always
 * conflicts, even if `work` only scans.
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
