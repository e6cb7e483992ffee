import type { Tenant } from '../../core/model/address.ts'
import type { Key } from '../../core/store/engine.ts'

/**
 * Returns the partition with the configuration of the webhooks, the callbacks and the change feed of an API key. The
 * whole configuration is in one partition, so that each change is one commit.
 */
export const subscriptionsPart = ({ workspaceId, apiKey }: Tenant): Key => ['webhooks', workspaceId, apiKey]

export const subscriptionKeys = {
  /** Number of changes. Every change writes this key, so that concurrent changes conflict. */
  revision: ['revision'],
  basic: ['basic'],
  advanced: ['advanced'],
  /** The callbacks, in one record. */
  callbacks: ['callbacks'],
  /** Configuration of the change feed. */
  feed: ['feed'],
  endpoints: ['endpoints'],
  endpoint: (id: string): Key => ['endpoints', id],
  /** Index: the endpoint that has a uid. */
  endpointOfUid: (uid: string): Key => ['endpointOfUid', uid],
}
