import type { CountRecord } from '../directory/records.ts'
import { Transaction, Transactions } from '../directory/transaction.ts'
import type { Bus, Kv } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'
import { subscriptionKeys as keys, subscriptionsPart } from './keys.ts'
import { encodeChange, type Subscriptions, subscriptionsTopic } from './subscriptions.ts'

interface StoreParts {
  readonly kv: Kv
  readonly bus: Bus
  readonly subscriptions: Subscriptions
}

/** Where it is kept what API keys have configured of webhooks; tells those who remember it what has changed. */
export class SubscriptionStore {
  readonly #parts: StoreParts
  readonly #transactions: Transactions

  constructor(parts: StoreParts) {
    this.#parts = parts
    this.#transactions = new Transactions(parts.kv)
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
  const revision = await transaction.get<CountRecord>(keys.revision)
  const result = await work(transaction)
  if (transaction.written().length > 0)
    transaction.put(keys.revision, { count: (revision?.count ?? 0) + 1 } satisfies CountRecord)
  return result
}
