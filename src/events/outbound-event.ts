import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import type { Job } from '../engine/engine.ts'
import { readPayload } from '../jobs/job-payload.ts'
import type { OrganizationAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { namedUserSchema } from '../model/named-users.ts'
import type { ActionUser } from './activity.ts'

/**
 * Every event that external receivers can subscribe to. Only the webhook sender records the two events of
 * webhooks themselves.
 */
export const eventTypes = [
  'comment_annotation.add',
  'comment_annotation.assign',
  'comment_annotation.status_change',
  'comment_annotation.priority_change',
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
  'comment.add',
  'comment.update',
  'comment.delete',
  'comment.reaction_add',
  'comment.reaction_delete',
  'huddle.create',
  'huddle.join',
  'recorder.done',
  'crdt.update_data',
  'document.create',
  'document.delete',
  'presence.join',
  'presence.leave',
  'webhook.test',
  'message.attempt.exhausted',
] as const
export type EventType = (typeof eventTypes)[number]

/** The event that an endpoint has finally missed another one. It is not sent to that endpoint. */
export const exhaustedType = 'message.attempt.exhausted' satisfies EventType

/** Callers may subscribe to types of other servers: they are stored, and no event has them. */
export const isEventType = (name: string): name is EventType =>
  (eventTypes as readonly string[]).includes(name)

/** An event for external receivers. */
export interface OutboundEvent {
  readonly type: EventType
  /** Null: it belongs to the organization as a whole. */
  readonly documentId: string | null
  readonly actionUser: ActionUser
  /** Subject of the event, by name: `annotation`, `comment`, … */
  readonly data: Readonly<Record<string, unknown>>
}

/** An event that waits for delivery. */
export interface QueuedEvent extends OutboundEvent {
  /** Globally unique. */
  readonly id: string
  readonly scope: OrganizationAddress
  /** Epoch milliseconds. */
  readonly at: number
}

/** Queue of events that wait for delivery. */
export const eventQueue = 'events'
/** Topic of an empty message after a commit that has enqueued events. */
export const eventTopic = 'events'

/**
 * Milliseconds until the year 5000 have 9 digits in base 36; 5 digits are 60 million events of one
 * millisecond.
 */
const timeDigits = 9
const placeDigits = 5
const idStart = 'evt_'

/** Generates ids of events that are unique, and within one process sort in the order of generation. */
export class EventIds {
  #at = 0
  #place = 0

  /** @param now epoch milliseconds */
  next(now: number): string {
    this.#place = now === this.#at ? this.#place + 1 : 0
    this.#at = now
    const order = digits(now, timeDigits) + digits(this.#place, placeDigits)
    return idStart + order + randomBytes(8).toString('hex')
  }
}

/**
 * Returns the id of an event that each node creates on its own: the same for the same name and time (epoch
 * milliseconds).
 */
export const eventIdOf = (at: number, name: string): string =>
  idStart +
  digits(at, timeDigits) +
  digits(0, placeDigits) +
  createHash('sha256').update(`${at} ${name}`).digest('hex').slice(0, 16)

const digits = (value: number, count: number): string => value.toString(36).padStart(count, '0')

/** Returns the part of an event's id that sorts by time. */
export const orderOf = (eventId: string): string =>
  eventId.slice(idStart.length, idStart.length + timeDigits + placeDigits)

/** Returns the upper bound of the order of all events before a time. @param at epoch milliseconds */
export const orderAt = (at: number): string => digits(at, timeDigits)

/** Creates the queued event of an organization. @param at epoch milliseconds */
export function queuedEvent(
  scope: OrganizationAddress,
  event: OutboundEvent,
  { id, at }: Pick<QueuedEvent, 'id' | 'at'>,
): QueuedEvent {
  const { workspaceId, apiKey, organizationId } = scope
  return { ...event, id, scope: { workspaceId, apiKey, organizationId }, at }
}

/** Returns the job that delivers an event, due at once. */
export const eventJob = (event: QueuedEvent): Job => ({
  queue: eventQueue,
  id: event.id,
  at: 0,
  payload: Buffer.from(JSON.stringify(event)),
})

export const queuedEventSchema = v.looseObject({
  // A newer node may record types that this one does not know: receivers get them anyway.
  type: v.custom<EventType>((type) => typeof type === 'string'),
  documentId: v.nullable(v.string()),
  actionUser: namedUserSchema,
  data: v.record(v.string(), v.unknown()),
  id: v.string(),
  scope: addressSchemas.organization,
  at: v.number(),
})

/** Returns the event of a job of `eventJob`. @throws MalformedJobError */
export const decodeQueuedEvent = (payload: Uint8Array): QueuedEvent => readPayload(queuedEventSchema, payload)
