import { ChangeJobs } from '../../core/events/change-jobs.ts'
import { ChangeWindows } from '../../core/events/change-windows.ts'
import { eventTopic } from '../../core/events/outbound-event.ts'
import { defineCapability } from '../../rest/capability.ts'
import { getDeliveries } from './api/v2/workspace/advancedwebhook/deliveries/get.ts'
import { recoverDeliveries } from './api/v2/workspace/advancedwebhook/deliveries/recover.ts'
import { resendDelivery } from './api/v2/workspace/advancedwebhook/deliveries/resend.ts'
import { createEndpoint } from './api/v2/workspace/advancedwebhook/endpoints/create.ts'
import { deleteEndpoint } from './api/v2/workspace/advancedwebhook/endpoints/delete.ts'
import { getEndpoints } from './api/v2/workspace/advancedwebhook/endpoints/get.ts'
import { getEndpointSecret } from './api/v2/workspace/advancedwebhook/endpoints/secret/get.ts'
import { rotateEndpointSecret } from './api/v2/workspace/advancedwebhook/endpoints/secret/rotate.ts'
import { testEndpoint } from './api/v2/workspace/advancedwebhook/endpoints/test.ts'
import { updateEndpoint } from './api/v2/workspace/advancedwebhook/endpoints/update.ts'
import { getAdvancedWebhookConfig } from './api/v2/workspace/advancedwebhookconfig/get.ts'
import { updateAdvancedWebhookConfig } from './api/v2/workspace/advancedwebhookconfig/update.ts'
import { getWebhookConfig } from './api/v2/workspace/webhookconfig/get.ts'
import { updateWebhookConfig } from './api/v2/workspace/webhookconfig/update.ts'
import type { CallbackFunctions } from './callback-records.ts'
import type { EventListeners } from './sending/event-listeners.ts'
import { WebhookService } from './sending/webhook-service.ts'
import { createWebhookModule, type WebhookModule } from './webhook-module.ts'

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
  operations: [
    getDeliveries,
    recoverDeliveries,
    resendDelivery,
    createEndpoint,
    deleteEndpoint,
    getEndpoints,
    getEndpointSecret,
    rotateEndpointSecret,
    testEndpoint,
    updateEndpoint,
    getAdvancedWebhookConfig,
    updateAdvancedWebhookConfig,
    getWebhookConfig,
    updateWebhookConfig,
  ],
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
