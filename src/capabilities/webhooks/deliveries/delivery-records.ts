import { createHash } from 'node:crypto'
import * as s from '../../../core/base/schema.ts'
import {
  EventIds,
  type EventType,
  orderOf,
  type QueuedEvent,
  queuedEventSchema,
} from '../../../core/events/outbound-event.ts'
import type { Tenant } from '../../../core/model/address.ts'
import type { RecordType } from '../../../core/store/stored-record.ts'

/**
 * Address of a target. The target is an endpoint of an API key, or one of the two URLs of the key's basic
 * service.
 */
export interface TargetAddress extends Tenant {
  readonly targetId: string
}

/** Organization id of test events. No organization can have this id. */
export const noOrganizationKey = ''

export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One POST request and its outcome. */
const attemptSchema = s.object({
  /** Start of the attempt, in epoch milliseconds. */
  at: s.number,
  /** HTTP status of the response; null if there was no response. */
  httpStatus: s.orNull(s.number),
  durationMs: s.number,
  /** Reason of the failure; null if the attempt succeeded. */
  error: s.orNull(s.string),
})
export type AttemptRecord = s.TypeOf<typeof attemptSchema>

/** State of a message to the callback `store`: the only message of its editor, for all its changes. */
const progressSchema = s.object({
  /** Name of the editor; see `StoredEditor`. */
  editor: s.string,
  /** Number of the events for which the message stands. An attempt covers the events before it. */
  events: s.number,
  /** The last version of the editor that the receiver has accepted; null if there is none. */
  version: s.orNull(s.string),
  /** Start of the last attempt for the editor in epoch milliseconds; 0 before the first attempt. */
  attemptedAt: s.number,
})

/** The delivery of one event to one target. The event is stored separately (`deliveryKeys.event`). */
export const messageRecordType = {
  name: 'webhook message',
  schema: s.object(
    {
      /** Value of `webhook-id` in every attempt. The order of the ids is the order of the times of the events. */
      id: s.string,
      // A newer node may store types that this node does not know.
      type: s.trusted<EventType>(s.string),
      organizationId: s.string,
      /** Time of the event in epoch milliseconds. */
      at: s.number,
      status: s.choice(deliveryStatuses),
      /** Time of the next attempt in epoch milliseconds; null unless the message is pending. */
      dueAt: s.orNull(s.number),
      /**
       * Number of failed attempts since the message was first sent, or since a user requested to send it again.
       */
      failures: s.number,
      /** Reason why the message failed although it had attempts left; otherwise null. */
      reason: s.orNull(s.string),
      /** The most recent attempts, the oldest first. */
      attempts: s.array(attemptSchema),
    },
    {
      /** Only for the callback `store`. */
      progress: progressSchema,
    },
  ),
}
export type MessageRecord = s.TypeOf<typeof messageRecordType.schema>

export const messageEventType: RecordType<QueuedEvent> = { name: 'webhook event', schema: queuedEventSchema }

/** Index entry of an editor: the message of its target that stands for the editor. */
export const editorMessageType = {
  name: 'webhook message of an editor',
  schema: s.object({ messageId: s.string }),
}

/** State of the deliveries to a target. */
export const deliveryStateType = {
  name: 'delivery state',
  schema: s.object({
    /** Number of pending messages. */
    pending: s.number,
    /** Epoch milliseconds of the first failure since the last success; null if the last attempt succeeded. */
    failingSince: s.orNull(s.number),
    /** Start of the last attempt in epoch milliseconds; 0 before the first attempt. */
    attemptedAt: s.number,
  }),
}
export type DeliveryState = s.TypeOf<typeof deliveryStateType.schema>

export const firstState: DeliveryState = { pending: 0, failingSince: null, attemptedAt: 0 }

export const deliveryLimits = {
  /** Maximum number of pending messages of a target. If there are more, the oldest ones fail. */
  pending: 10_000,
  /** Maximum size of an event as JSON, in bytes. A larger event is sent without its data. */
  eventBytes: 262_144,
  /** Maximum number of stored attempts of a message. */
  attempts: 50,
  /** Maximum number of messages that one call of `recover` requeues. */
  recovered: 1_000,
} as const

/**
 * Returns the id of the message that delivers an event to a target. The id depends only on the event and the
 * target, so enqueuing the same event again has no effect.
 */
export function messageIdOf(event: Pick<QueuedEvent, 'id'>, targetId: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([event.id, targetId]))
    .digest('hex')
    .slice(0, 20)
  return messageIdStart + orderOf(event.id) + name
}

/** Prefix of message ids. In an id, the sortable part of the event id follows this prefix. */
export const messageIdStart = 'msg_'

/** Creates a test event for an endpoint. @param now current time in epoch milliseconds */
export const testEvent = (
  { workspaceId, apiKey, targetId }: TargetAddress,
  type: EventType,
  now: number,
): QueuedEvent => ({
  id: new EventIds().next(now),
  at: now,
  scope: { workspaceId, apiKey, organizationId: noOrganizationKey },
  type,
  documentId: null,
  actionUser: { userId: apiKey },
  data: { endpointId: targetId, test: true },
})
