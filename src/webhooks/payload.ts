import type { NotificationConfig } from '../directory/notifications/notification-records.ts'
import type { ActionUser } from '../events/activity.ts'
import type { EventType, QueuedEvent } from '../events/outbound-event.ts'
import { redactEvent, redactUser } from './data-protection.ts'

/** Somebody whom an event concerns, and where that person wants to hear of such things. */
export interface Recipient extends ActionUser {
  readonly notificationConfig: Required<NotificationConfig>
}

/** Finds out whom an event concerns. */
export interface RecipientResolver {
  of(event: QueuedEvent): Promise<readonly Recipient[]>
}

/** `protected`: without names, e-mail addresses and content. */
export type Detail = 'whole' | 'protected'

/** An event as one message. */
export interface PayloadInput {
  /** Of the message: the same in every attempt, as the header `webhook-id`. */
  readonly webhookId: string
  readonly event: QueuedEvent
  readonly detail: Detail
}

/** What the raw URL of the basic service gets. `timestamp`: epoch milliseconds of the event. */
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

/** What its processed URL gets: the same, and whom it concerns. */
export const processedPayload = (input: PayloadInput, recipients: readonly Recipient[]) => ({
  ...basicPayload(input),
  recipients: input.detail === 'whole' ? recipients : recipients.map(protectedRecipient),
})

/** What advanced endpoints get. Who acted, and where, stands in `data`, beside what it is about. */
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

/** The part of the product that it comes from: `comment`, `huddle`, `recorder`, `crdt`, `document`, `presence`, `webhook`. */
function sourceOf(type: EventType): string {
  const [first = ''] = type.split(/[._]/)
  return first === 'message' ? 'webhook' : first
}
