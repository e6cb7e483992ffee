import type { Bus, Engine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { WebhookConfigs } from '../../../src/subscriptions/configs.ts'
import type { NewEndpoint } from '../../../src/subscriptions/endpoint-records.ts'
import { Endpoints } from '../../../src/subscriptions/endpoints.ts'
import { SubscriptionStore } from '../../../src/subscriptions/store.ts'
import { Subscriptions } from '../../../src/subscriptions/subscriptions.ts'
import type { ToldEvent } from '../../../src/subscriptions/target.ts'
import { HeldClock } from '../../support/clock.ts'
import { tenant } from '../../support/directory.ts'

/** The services of one process, on a store that others may use, too. */
export function processOn({ kv, cluster }: Pick<Engine, 'kv' | 'cluster'>, bus: Bus, bytesMax?: number) {
  const clock = new HeldClock()
  const subscriptions = new Subscriptions({ kv, bus, cluster }, clock, bytesMax)
  const store = new SubscriptionStore({ kv, bus, subscriptions })
  return { clock, subscriptions, configs: new WebhookConfigs(store), endpoints: new Endpoints(store, clock) }
}

export async function openProcess() {
  const engine = await openMemoryEngine()
  return { engine, ...processOn(engine, engine.bus) }
}

export const newEndpoint = (more: Partial<NewEndpoint> = {}): NewEndpoint => ({
  url: 'https://example.com/hook',
  description: null,
  filterTypes: null,
  channels: null,
  disabled: false,
  rateLimit: null,
  uid: null,
  metadata: null,
  ...more,
})

export const toldEvent = (more: Partial<ToldEvent> = {}): ToldEvent => ({
  type: 'comment.add',
  scope: { ...tenant, organizationId: 'acme' },
  documentId: 'report',
  data: {},
  ...more,
})
