import type { Tenant } from '../../core/model/address.ts'
import { type FeedConfig, feedConfigType, noFeedConfig } from './feed-config.ts'
import { subscriptionKeys as keys } from './subscription-keys.ts'
import type { SubscriptionStore } from './subscription-store.ts'

/** Reads and changes the configuration of the feed of API keys. */
export class FeedConfigService {
  readonly #store: SubscriptionStore

  constructor(store: SubscriptionStore) {
    this.#store = store
  }

  async read(tenant: Tenant): Promise<FeedConfig> {
    return (await this.#store.read(tenant).get(keys.feed, feedConfigType)) ?? noFeedConfig
  }

  /** Changes the given members. @throws ApiError ABORTED if conflicts with concurrent changes continue */
  update(tenant: Tenant, change: Partial<FeedConfig>): Promise<FeedConfig> {
    return this.#store.change(tenant, async (transaction) => {
      const next = { ...((await transaction.get(keys.feed, feedConfigType)) ?? noFeedConfig), ...change }
      transaction.put(keys.feed, next)
      return next
    })
  }
}
