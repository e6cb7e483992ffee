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

/** Store of the webhook configuration of API keys. Announces changes to the caches of all nodes. */
export class SubscriptionStore {
  readonly #dependencies: SubscriptionStoreDependencies
  readonly #transactions: TransactionRunner

  constructor(dependencies: SubscriptionStoreDependencies) {
    this.#dependencies = dependencies
    this.#transactions = new TransactionRunner(dependencies.kv)
  }

  /** Returns a transaction for reads only; puts into it are not written. */
  read(tenant: Tenant): Transaction {
    return new Transaction(this.#dependencies.kv, subscriptionsPart(tenant))
  }

  /**
   * Changes the configuration of an API key. Resolves when the change is durable and announced. Changes of one API key
   * run one after the other.
   * @throws ApiError ABORTED, and the errors of `work`; then nothing has changed
   */
  async change<T>(tenant: Tenant, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { bus, subscriptions } = this.#dependencies
    try {
      const { result } = await this.#transactions.run(subscriptionsPart(tenant), (transaction) =>
        revised(transaction, work),
      )
      return result
    } finally {
      // Also after an error, because the outcome of the commit may be unknown.
      subscriptions.forget(tenant)
      bus.publish(subscriptionsTopic, encodeChange(tenant))
    }
  }
}

/**
 * Reads the revision first and increments it with every change, so that a concurrent change conflicts, even with a scan
 * of `work`.
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
