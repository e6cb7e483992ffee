import type { NotificationConfig } from '../directory/notification-records.ts'
import type { ActionUser } from '../events/activity.ts'
import type { EventType, StoredEvent } from '../events/outbound.ts'
import { protectedEvent, protectedUser } from './protection.ts'

/** Somebody whom an event concerns, and where that person wants to hear of such things. */
export interface Recipient extends ActionUser {
  readonly notificationConfig: Required<NotificationConfig>
}

/** Finds out whom an event concerns. */
export interface Recipients {
  of(event: StoredEvent): Promise<readonly Recipient[]>
}

/** `protected`: without names, e-mail addresses and content. */
export type Detail = 'whole' | 'protected'

/** An event as one message. */
export interface Told {
  /** Of the message: the same in every attempt, as the header `webhook-id`. */
  readonly webhookId: string
  readonly event: StoredEvent
  readonly detail: Detail
}

/** What the raw URL of the basic service gets. `timestamp`: epoch milliseconds of the event. */
export function basicPayload({ webhookId, event, detail }: Told) {
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
export const processedPayload = (told: Told, recipients: readonly Recipient[]) => ({
  ...basicPayload(told),
  recipients: told.detail === 'whole' ? recipients : recipients.map(protectedRecipient),
})

/** What advanced endpoints get. Who acted, and where, stands in `data`, beside what it is about. */
export function advancedPayload({ webhookId, event, detail }: Told) {
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

const detailed = (event: StoredEvent, detail: Detail): StoredEvent =>
  detail === 'whole' ? event : protectedEvent(event)

const protectedRecipient = ({ notificationConfig, ...user }: Recipient): Recipient => ({
  ...protectedUser(user),
  notificationConfig,
})

const metadataOf = ({ scope, documentId }: StoredEvent) => ({
  apiKey: scope.apiKey,
  organizationId: scope.organizationId,
  documentId,
})

/** The part of the product that it comes from: `comment`, `huddle`, `recorder`, `crdt`, `document`, `presence`, `webhook`. */
function sourceOf(type: EventType): string {
  const [first = ''] = type.split(/[._]/)
  return first === 'message' ? 'webhook' : first
}
