import { EndpointService, type NewEndpoint } from '../../../src/capabilities/webhooks/endpoint-service.ts'
import { SubscriptionCache } from '../../../src/capabilities/webhooks/subscription-cache.ts'
import type { MatchableEvent } from '../../../src/capabilities/webhooks/target.ts'
import { WebhookConfigService } from '../../../src/capabilities/webhooks/webhook-config-service.ts'
import type { Bus, Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { tenant } from '../../support/data/directory.ts'
import { HeldClock } from '../../support/time/clock.ts'

/** The services of one process on a store that other processes may share. */
export function processOn(
  { kv, foreignChanges }: Pick<Engine, 'kv' | 'foreignChanges'>,
  bus: Bus,
  bytesMax?: number,
) {
  const clock = new HeldClock()
  const subscriptions = new SubscriptionCache({ kv, bus, foreignChanges }, clock, bytesMax)
  return {
    clock,
    subscriptions,
    configs: new WebhookConfigService(subscriptions, clock),
    endpoints: new EndpointService(subscriptions, clock),
  }
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

export const toldEvent = (more: Partial<MatchableEvent> = {}): MatchableEvent => ({
  type: 'comment.add',
  scope: { ...tenant, organizationId: 'acme' },
  documentId: 'report',
  data: {},
  ...more,
})
