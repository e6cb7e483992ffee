import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { RecordType } from '../../directory/store/records.ts'
import { type EventType, orderOf, type QueuedEvent, queuedEventSchema } from '../../events/outbound-event.ts'
import type { Tenant } from '../../model/address.ts'

/** Address of a receiver: an endpoint of an API key, or one of the two URLs of its basic service. */
export interface TargetAddress extends Tenant {
  readonly targetId: string
}

/** Organization id of test events; no organization can have it. */
export const noOrganizationKey = ''

export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One POST and its outcome. */
export interface AttemptRecord {
  /** Epoch milliseconds of its start. */
  readonly at: number
  /** Null if there was no response. */
  readonly httpStatus: number | null
  readonly durationMs: number
  /** Null if the attempt succeeded. */
  readonly error: string | null
}

/** The delivery of one event to one target. The event is stored separately (`deliveryKeys.event`). */
export interface MessageRecord {
  /** `webhook-id` of every attempt; sorts by the time of the event. */
  readonly id: string
  readonly type: EventType
  readonly organizationId: string
  /** Epoch milliseconds of the event. */
  readonly at: number
  readonly status: DeliveryStatus
  /** Epoch milliseconds of the next attempt; null unless the message is pending. */
  readonly dueAt: number | null
  /** Failed attempts since the first send, or since a user requested another send. */
  readonly failures: number
  /** Reason of the failure if it is not the last attempt; else null. */
  readonly reason: string | null
  /** The most recent attempts, the oldest first. */
  readonly attempts: readonly AttemptRecord[]
}

const attemptSchema = v.looseObject({
  at: v.number(),
  httpStatus: v.nullable(v.number()),
  durationMs: v.number(),
  error: v.nullable(v.string()),
})

export const messageRecordType: RecordType<MessageRecord> = {
  name: 'webhook message',
  schema: v.looseObject({
    id: v.string(),
    // A newer node may send types that this one does not know.
    type: v.custom<EventType>((type) => typeof type === 'string'),
    organizationId: v.string(),
    at: v.number(),
    status: v.picklist(deliveryStatuses),
    dueAt: v.nullable(v.number()),
    failures: v.number(),
    reason: v.nullable(v.string()),
    attempts: v.array(attemptSchema),
  }),
}

/** The event of a message. */
export const messageEventType: RecordType<QueuedEvent> = { name: 'webhook event', schema: queuedEventSchema }

/** State of the deliveries to a target. */
export interface DeliveryState {
  /** Number of pending messages. */
  readonly pending: number
  /** Epoch milliseconds of the first failure since the last success; null if the last attempt succeeded. */
  readonly failingSince: number | null
  /** Epoch milliseconds of the start of the last attempt; 0 before the first one. */
  readonly attemptedAt: number
}

export const deliveryStateType: RecordType<DeliveryState> = {
  name: 'delivery state',
  schema: v.looseObject({
    pending: v.number(),
    failingSince: v.nullable(v.number()),
    attemptedAt: v.number(),
  }),
}

export const firstState: DeliveryState = { pending: 0, failingSince: null, attemptedAt: 0 }

export const deliveryLimits = {
  /** Pending messages of a target. If there are more, the oldest ones fail. */
  pending: 10_000,
  /** Bytes of an event as JSON. A larger event is sent without its data. */
  eventBytes: 262_144,
  /** Stored attempts of a message. */
  attempts: 50,
  /** Messages that one call of `recover` requeues. */
  recovered: 1_000,
} as const

/**
 * Returns the id of the message for an event and a target. It is deterministic, so that enqueuing an event again
 * changes nothing.
 */
export function messageIdOf(event: Pick<QueuedEvent, 'id'>, targetId: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([event.id, targetId]))
    .digest('hex')
    .slice(0, 20)
  return messageIdStart + orderOf(event.id) + name
}

/** Prefix of message ids. The part of the event id that sorts by time follows it. */
export const messageIdStart = 'msg_'
