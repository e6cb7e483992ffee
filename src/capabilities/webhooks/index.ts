import { defineCapability } from '../../rest/capability.ts'
import { participantsOf } from '../comments/find-comments.ts'
import type { EventListeners } from './event-listeners.ts'
import { WebhookService } from './webhook-service.ts'

interface Added {
  readonly webhooks: WebhookService
  /** The functions of this process that get events. */
  readonly listeners: EventListeners
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

const dayMs = 86_400_000

/** Sends events to the endpoints of API keys, and to the functions of this process. */
export const webhooks = defineCapability({
  name: 'webhooks',
  create(services) {
    const { config, store, feed, functions, memoryAccounts, wants, listeners } = services
    const webhooks = new WebhookService({
      ...services,
      feed: feed.writer,
      organizations: store,
      participants: (scope, annotationId) => participantsOf(store.read(scope), annotationId),
      receivers: functions?.receivers,
      editors: services,
      contentBytesMax: config.maxWebhookContentBytes,
      unread: memoryAccounts.unreadResponses,
      keepMs: config.webhookLogRetentionDays * dayMs,
    })
    return { webhooks, wants: (tenant, type) => listeners.wants(type) || wants(tenant, type) }
  },
  start: ({ webhooks }) => webhooks.start(),
  leave: ({ webhooks }, ms) => webhooks.stop(ms),
})
