import type { Clock } from '../../core/base/clock.ts'
import { ChangeJobs } from '../../core/events/change-jobs.ts'
import { ChangeWindows } from '../../core/events/change-windows.ts'
import { eventTopic } from '../../core/events/outbound-event.ts'
import type { Engine } from '../../core/store/engine.ts'
import { defineCapability } from '../../rest/capability.ts'
import type { CallbackFunctions, CallbacksRecord } from './callback-records.ts'
import { DeliveryService } from './deliveries/delivery-service.ts'
import { DeliveryStore } from './deliveries/delivery-store.ts'
import { EndpointService } from './endpoint-service.ts'
import { DeliveryWorker } from './sending/delivery-worker.ts'
import { EventDispatcher } from './sending/event-dispatcher.ts'
import type { EventListeners } from './sending/fanout.ts'
import { SubscriptionCache } from './subscription-cache.ts'
import { WebhookConfigService } from './webhook-config-service.ts'

/**
 * The configuration of the webhooks, callbacks and feeds of API keys, and the deliveries.
 * @param functions callbacks that are functions of this process; null if there are none
 */
export function createWebhookModule(
  engine: Pick<Engine, 'kv' | 'bus' | 'foreignChanges'>,
  clock: Clock,
  functions: CallbacksRecord | null = null,
) {
  const { kv, bus } = engine
  const subscriptions = new SubscriptionCache(engine, clock, undefined, functions)
  const deliveryStore = new DeliveryStore(kv)
  return {
    subscriptions,
    webhookConfigs: new WebhookConfigService(subscriptions, clock),
    endpoints: new EndpointService(subscriptions, clock),
    deliveries: new DeliveryService(deliveryStore, bus, clock),
    deliveryStore,
  }
}

interface Added extends ReturnType<typeof createWebhookModule> {
  readonly eventDispatcher: EventDispatcher
  readonly deliveryWorker: DeliveryWorker
  /** Callbacks that are functions of this process; null if there are none. */
  readonly functions: CallbackFunctions | null
  /** The functions of this process that get events. */
  readonly listeners: EventListeners
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** The webhooks, callbacks and change feeds that API keys configure, and the messages that are sent to them. */
export const webhooks = defineCapability({
  name: 'webhooks',
  create(services) {
    const { engine, clock, functions, listeners } = services
    const module = createWebhookModule(engine, clock, functions?.callbacks)
    return {
      ...module,
      eventDispatcher: new EventDispatcher(services),
      deliveryWorker: new DeliveryWorker(services),
      wants: (tenant, type) => listeners.wants(type) || module.subscriptions.wanted(tenant, type),
    }
  },
  cascade: ({ deliveryStore }) => [
    { removeOrganization: (scope, goOn) => deliveryStore.forgetOrganization(scope, goOn) },
  ],
  edits(services) {
    const { config, clock, engine, tracer, subscriptions } = services
    const due = (): void => engine.bus.publish(eventTopic, new Uint8Array())
    return [
      new ChangeWindows({
        clock,
        windowMs: config.updateEventWindowSeconds * 1000,
        wanted: (tenant, type) => services.wants(tenant, type),
        due,
        tracer,
      }),
      new ChangeJobs(clock, (tenant) => subscriptions.wantsChanges(tenant), due),
    ]
  },
  start({ eventDispatcher, deliveryWorker }) {
    eventDispatcher.start()
    deliveryWorker.start()
  },
  async leave({ eventDispatcher, deliveryWorker }, ms) {
    await Promise.all([eventDispatcher.stop(), deliveryWorker.stop(ms)])
    deliveryWorker.endLog()
  },
})
