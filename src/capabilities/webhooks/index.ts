import type { Clock } from '../../core/base/clock.ts'
import { ChangeJobs } from '../../core/events/change-jobs.ts'
import { ChangeWindows } from '../../core/events/change-windows.ts'
import { eventTopic } from '../../core/events/outbound-event.ts'
import type { Engine } from '../../core/store/engine.ts'
import { defineCapability } from '../../rest/capability.ts'
import type { Services } from '../../rest/services.ts'
import type { CallbackFunctions, CallbacksRecord } from './callback-records.ts'
import { DeliveryRemoval } from './deliveries/delivery-removal.ts'
import { DeliveryService } from './deliveries/delivery-service.ts'
import { DeliveryStore } from './deliveries/delivery-store.ts'
import { EndpointService } from './endpoint-service.ts'
import { FailureLog } from './sending/attempt-recorder.ts'
import { DeliveryWorker } from './sending/delivery-worker.ts'
import { EventDispatcher } from './sending/event-dispatcher.ts'
import type { EventListeners } from './sending/fanout.ts'
import { SubscriptionCache } from './subscription-cache.ts'
import { SubscriptionStore } from './subscription-store.ts'
import { CallbackConfigService, WebhookConfigService } from './webhook-config-service.ts'

/** Sends events to the webhooks, callbacks and feeds of API keys, and to the functions of this process. */
class WebhookService {
  readonly #services: Services
  readonly #dispatcher: EventDispatcher
  readonly #worker: DeliveryWorker
  readonly #failures: FailureLog

  /** @param services the deliveries and the feed are added to them before the start */
  constructor(services: Services) {
    this.#services = services
    this.#failures = new FailureLog(services)
    this.#dispatcher = new EventDispatcher(services)
    this.#worker = new DeliveryWorker(services, this.#failures)
  }

  start(): void {
    const { deliveries, metrics } = this.#services
    deliveries.onDropped((address, outcome, messages) => {
      metrics.webhookMessages.inc({ outcome }, messages.length)
      for (const message of messages) this.#failures.dropped(address, message)
    })
    this.#dispatcher.start()
    this.#worker.start()
  }

  /**
   * Resolves when nothing is sent any more. Attempts in progress may take up to `graceMs`. The next start
   * continues with the remaining messages.
   */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#dispatcher.stop(), this.#worker.stop(graceMs)])
    this.#failures.end()
  }
}

/** The configuration of the webhooks, callbacks and feeds of API keys, and the deliveries. */
interface WebhookModule {
  readonly subscriptions: SubscriptionCache
  readonly webhookConfigs: WebhookConfigService
  readonly endpoints: EndpointService
  readonly callbackConfigs: CallbackConfigService
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
    deliveries: new DeliveryService(deliveryStore, bus, clock),
    deliveryRemoval: new DeliveryRemoval(deliveryStore),
  }
}

interface Added extends WebhookModule {
  readonly webhooks: WebhookService
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
      webhooks: new WebhookService(services),
      wants: (tenant, type) => listeners.wants(type) || module.subscriptions.wanted(tenant, type),
    }
  },
  cascade: ({ deliveryRemoval }) => [
    { removeOrganization: (scope, goOn) => deliveryRemoval.forgetOrganization(scope, goOn) },
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
  start: ({ webhooks }) => webhooks.start(),
  leave: ({ webhooks }, ms) => webhooks.stop(ms),
})
