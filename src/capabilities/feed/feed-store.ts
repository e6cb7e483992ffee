import { CachingDirectoryReader, type DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { type Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Engine } from '../../core/store/engine.ts'
import { FeedChange } from './feed-change.ts'
import { encodeFeedNotice, feedPart, feedSweepJob, feedTopic, feedKeys as keys } from './feed-keys.ts'
import { type FeedState, feedStateType } from './feed-records.ts'

/** Stores the feeds of API keys. Each feed has its own partition. */
export class FeedStore {
  readonly #engine: Pick<Engine, 'kv' | 'bus'>
  readonly #transactions: TransactionRunner

  constructor(engine: Pick<Engine, 'kv' | 'bus'>) {
    this.#engine = engine
    this.#transactions = new TransactionRunner(engine.kv)
  }

  /** Returns a reader for one call. Do not reuse it, because it caches records. */
  read(tenant: Tenant): DirectoryReader {
    return new CachingDirectoryReader(this.#engine.kv, feedPart(tenant))
  }

  /**
   * Runs one change of a feed that is on, and notifies the readers of all nodes. Returns null if the feed is off.
   * @throws ApiError ABORTED if conflicts with concurrent changes continue; the errors of `work`
   */
  change<T>(
    tenant: Tenant,
    work: (change: FeedChange, transaction: Transaction) => Promise<T>,
  ): Promise<T | null> {
    return this.#run(tenant, 'skip', work)
  }

  /** Like `change`, but turns the feed on if it is off. */
  async begin<T>(
    tenant: Tenant,
    work: (change: FeedChange, transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    return (await this.#run(tenant, 'begin', work)) as T
  }

  async #run<T>(
    tenant: Tenant,
    ifOff: 'begin' | 'skip',
    work: (change: FeedChange, transaction: Transaction) => Promise<T>,
  ): Promise<T | null> {
    const { result } = await this.#transactions.run(feedPart(tenant), (transaction) =>
      FeedChange.run(transaction, ifOff, (change) => work(change, transaction)),
    )
    this.#engine.bus.publish(feedTopic, encodeFeedNotice(tenant))
    return result
  }

  /**
   * Turns a feed off. Its records are removed in the background.
   * @param now epoch milliseconds
   */
  async end(tenant: Tenant, now: number): Promise<void> {
    await this.#transactions.run(feedPart(tenant), async (transaction) => {
      const state = await transaction.get(keys.state, feedStateType)
      if (state === null) return
      transaction.put(keys.state, { ...state, enabled: false } satisfies FeedState)
      transaction.enqueue(feedSweepJob(tenant, now))
    })
    this.#engine.bus.publish(feedTopic, encodeFeedNotice(tenant))
  }

  /** Removes up to `limit` records of a feed that is off. Returns whether records may remain. */
  async purge(tenant: Tenant, limit: number): Promise<boolean> {
    const { result } = await this.#transactions.run(feedPart(tenant), async (transaction) => {
      if ((await transaction.get(keys.state, feedStateType))?.enabled === true) return false
      const entries = await transaction.scan({ limit })
      for (const { key } of entries) transaction.delete(key)
      return entries.length === limit
    })
    return result
  }
}
