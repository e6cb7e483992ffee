import type { CounterRecord } from '../directory/store/records.ts'
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

/** Where it is kept what API keys have configured of webhooks; tells those who remember it what has changed. */
export class SubscriptionStore {
  readonly #parts: SubscriptionStoreDependencies
  readonly #transactions: TransactionRunner

  constructor(parts: SubscriptionStoreDependencies) {
    this.#parts = parts
    this.#transactions = new TransactionRunner(parts.kv)
  }

  /** For reading only: nothing that is put into it is written. */
  read(tenant: Tenant): Transaction {
    return new Transaction(this.#parts.kv, subscriptionsPart(tenant))
  }

  /**
   * Changes what an API key has configured; resolves when that is durable and told. Changes of one API key come one after
   * the other.
   * @throws ApiError ABORTED; what `work` throws, and then nothing is changed
   */
  async change<T>(tenant: Tenant, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { bus, subscriptions } = this.#parts
    try {
      const { result } = await this.#transactions.run(subscriptionsPart(tenant), (transaction) =>
        revised(transaction, work),
      )
      return result
    } finally {
      // Also after a failure: it may have been written all the same.
      subscriptions.forget(tenant)
      bus.publish(subscriptionsTopic, encodeChange(tenant))
    }
  }
}

/** The revision is read first and counts every change: what `work` scans is as sure as what it gets. */
async function revised<T>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const revision = await transaction.get<CounterRecord>(keys.revision)
  const result = await work(transaction)
  if (transaction.written().length > 0)
    transaction.put(keys.revision, { count: (revision?.count ?? 0) + 1 } satisfies CounterRecord)
  return result
}
