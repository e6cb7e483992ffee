import { createHash } from 'node:crypto'
import { type EventType, orderOf, type QueuedEvent } from '../../events/outbound-event.ts'
import type { Tenant } from '../../model/address.ts'

/** Names a place that events are sent to: an endpoint of an API key, or one of the two URLs of its basic service. */
export interface TargetAddress extends Tenant {
  readonly targetId: string
}

/** What events of trials belong to: no organization can have this id. */
export const noOrganizationKey = ''

export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One POST, and what came of it. */
export interface AttemptRecord {
  /** Epoch milliseconds of its beginning. */
  readonly at: number
  /** Null: there was no answer. */
  readonly httpStatus: number | null
  readonly durationMs: number
  /** Null: it succeeded. */
  readonly error: string | null
}

/** An event on its way to one target. What is sent is kept beside it, see `deliveryKeys.event`. */
export interface MessageRecord {
  /** `webhook-id` of every attempt; sorts by the time of the event. */
  readonly id: string
  readonly type: EventType
  readonly organizationId: string
  /** Epoch milliseconds of the event. */
  readonly at: number
  readonly status: DeliveryStatus
  /** Epoch milliseconds of the next attempt; null unless it is pending. */
  readonly dueAt: number | null
  /** Failures since it was sent for the first time, or again by somebody's wish. */
  readonly failures: number
  /** Why it failed, where that is not the last attempt. */
  readonly reason: string | null
  /** The last ones, oldest first. */
  readonly attempts: readonly AttemptRecord[]
}

/** What is known of all messages of a target. */
export interface DeliveryState {
  /** Messages that wait. */
  readonly pending: number
  /** Epoch milliseconds of the first failure since the last success; null: the last one was a success. */
  readonly failingSince: number | null
  /** Epoch milliseconds of the beginning of the last attempt; 0 before there was one. */
  readonly attemptedAt: number
}

export const firstState: DeliveryState = { pending: 0, failingSince: null, attemptedAt: 0 }

export const deliveryLimits = {
  /** Messages of a target that wait; of more, the oldest fail. */
  pending: 10_000,
  /** JSON of an event; a larger one is told without its data. */
  eventBytes: 262_144,
  /** Attempts that are kept of a message. */
  attempts: 50,
  /** Messages that one call of `recover` requeues. */
  recovered: 1_000,
} as const

/** The same for the same event and target, always: what is enqueued again is there already. */
export function messageIdOf(event: Pick<QueuedEvent, 'id'>, targetId: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([event.id, targetId]))
    .digest('hex')
    .slice(0, 20)
  return messageIdStart + orderOf(event.id) + name
}

/** What ids of messages begin with, before the order of their events. */
export const messageIdStart = 'msg_'
