import type { Key } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'

/** What is configured of webhooks by an API key: one partition, so that a change is one commit. */
export const subscriptionsPart = ({ workspaceId, apiKey }: Tenant): Key => ['webhooks', workspaceId, apiKey]

export const subscriptionKeys = {
  /** Written with every change: two changes at the same time are one after the other. */
  revision: ['revision'] as Key,
  basic: ['basic'] as Key,
  advanced: ['advanced'] as Key,
  endpoints: ['endpoints'] as Key,
  endpoint: (id: string): Key => ['endpoints', id],
  /** Index: the endpoint that has a uid. */
  endpointOfUid: (uid: string): Key => ['endpointOfUid', uid],
}
