import type { Clock } from '../../core/base/clock.ts'
import type { Engine } from '../../core/store/engine.ts'
import { CallbackConfigService } from './callback-config-service.ts'
import type { CallbacksRecord } from './callback-records.ts'
import { DeliveryRemoval } from './deliveries/delivery-removal.ts'
import { DeliveryService } from './deliveries/delivery-service.ts'
import { DeliveryStore } from './deliveries/delivery-store.ts'
import { EndpointService } from './endpoint-service.ts'
import { SubscriptionCache } from './subscription-cache.ts'
import { SubscriptionStore } from './subscription-store.ts'
import { FeedConfigService, WebhookConfigService } from './webhook-config-service.ts'

/** The configuration of the webhooks, callbacks and feeds of API keys, and the deliveries. */
export interface WebhookModule {
  readonly subscriptions: SubscriptionCache
  readonly webhookConfigs: WebhookConfigService
  readonly endpoints: EndpointService
  readonly callbackConfigs: CallbackConfigService
  readonly feedConfigs: FeedConfigService
  readonly deliveries: DeliveryService
  readonly deliveryRemoval: DeliveryRemoval
}

/** @param functions callbacks that are functions of this process; null if there are none */
export function createWebhookModule(
  engine: Pick<Engine, 'kv' | 'bus' | 'foreignChanges'>,
  clock: Clock,
  functions: CallbacksRecord | null = null,
): WebhookModule {
  const { kv, bus } = engine
  const subscriptions = new SubscriptionCache(engine, clock, undefined, functions)
  const store = new SubscriptionStore(kv, bus, subscriptions)
  const deliveryStore = new DeliveryStore(kv)
  return {
    subscriptions,
    webhookConfigs: new WebhookConfigService(store),
    endpoints: new EndpointService(store, clock),
    callbackConfigs: new CallbackConfigService(store, clock),
    feedConfigs: new FeedConfigService(store),
    deliveries: new DeliveryService(deliveryStore, bus, clock),
    deliveryRemoval: new DeliveryRemoval(deliveryStore),
  }
}
