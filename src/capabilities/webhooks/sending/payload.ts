import type { ActionUser } from '../../../core/events/activity.ts'
import type { EventType, QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { NotificationConfig } from '../../notifications/notification-records.ts'
import { redactEvent, redactUser } from './data-protection.ts'
import type { EventContent } from './event-content.ts'

/** A user whom an event concerns, with the notification config that applies to the user. */
export interface Recipient extends ActionUser {
  readonly notificationConfig: Required<NotificationConfig>
}

/** How much of an event a payload contains. `protected`: no names, e-mail addresses or content. */
type Detail = 'whole' | 'protected'

/** The input from which a payload is built: an event, and the id of its message. */
export interface PayloadInput {
  /** Id of the message, which is also the header `webhook-id`. It is the same in every attempt. */
  readonly webhookId: string
  readonly event: QueuedEvent
  readonly detail: Detail
}

/**
 * Returns the payload for the raw URL of the basic service. `timestamp` is the time of the event in epoch
 * milliseconds.
 */
export function basicPayload({ webhookId, event, detail }: PayloadInput) {
  const { type, actionUser, data, at } = detailed(event, detail)
  return {
    webhookId,
    actionType: type,
    notificationSource: sourceOf(type),
    actionUser,
    metadata: metadataOf(event),
    timestamp: at,
    data,
  }
}

/** Returns the payload for the processed URL of the basic service: the raw payload with recipients. */
export const processedPayload = (input: PayloadInput, recipients: readonly Recipient[]) => ({
  ...basicPayload(input),
  recipients: input.detail === 'whole' ? recipients : recipients.map(protectedRecipient),
})

/**
 * Returns the payload for advanced endpoints. The acting user and the ids are in `data`, next to the data of
 * the event.
 */
export function advancedPayload({ webhookId, event, detail }: PayloadInput) {
  const { type, actionUser, data, at } = detailed(event, detail)
  return {
    event: type,
    actionType: type,
    source: sourceOf(type),
    data: { ...data, actionUser, metadata: metadataOf(event) },
    webhookId,
    timestamp: at,
  }
}

export type AdvancedPayload = ReturnType<typeof advancedPayload>

/** Returns the payload of the callback `store`. `timestamp` is the time of the event in epoch milliseconds. */
export const storePayload = (event: QueuedEvent, content: EventContent) => ({
  callback: 'store',
  apiKey: event.scope.apiKey,
  organizationId: event.scope.organizationId,
  documentId: event.documentId,
  editorId: event.data.editorId,
  ...content,
  timestamp: event.at,
})

const detailed = (event: QueuedEvent, detail: Detail): QueuedEvent =>
  detail === 'whole' ? event : redactEvent(event)

const protectedRecipient = ({ notificationConfig, ...user }: Recipient): Recipient => ({
  ...redactUser(user),
  notificationConfig,
})

const metadataOf = ({ scope, documentId }: QueuedEvent) => ({
  apiKey: scope.apiKey,
  organizationId: scope.organizationId,
  documentId,
})

/**
 * Returns the product area of an event type: `comment`, `huddle`, `recorder`, `crdt`, `document`,
 * `permission`, `presence` or `webhook`.
 */
function sourceOf(type: EventType): string {
  const [first = ''] = type.split(/[._]/)
  return first === 'message' ? 'webhook' : first
}
