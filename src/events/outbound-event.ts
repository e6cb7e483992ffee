import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import type { Job } from '../engine/engine.ts'
import { readPayload } from '../jobs/job-payload.ts'
import type { OrganizationAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import type { ActionUser } from './activity.ts'

/** Every event that receivers outside can ask for; the two of webhooks themselves are never recorded by others. */
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

/** The event that an endpoint has missed another one for good. It is not sent to that endpoint. */
export const exhaustedType = 'message.attempt.exhausted' satisfies EventType

/** Callers may subscribe to types of other servers: they are stored, and no event has them. */
export const isEventType = (name: string): name is EventType =>
  (eventTypes as readonly string[]).includes(name)

/** Something that is told to receivers outside. */
export interface OutboundEvent {
  readonly type: EventType
  /** Null: it belongs to the organization as a whole. */
  readonly documentId: string | null
  readonly actionUser: ActionUser
  /** What it is about, by name: `annotation`, `comment`, … */
  readonly data: Readonly<Record<string, unknown>>
}

/** An event as it waits for being told. */
export interface QueuedEvent extends OutboundEvent {
  /** Unique for ever. */
  readonly id: string
  readonly scope: OrganizationAddress
  /** Epoch milliseconds. */
  readonly at: number
}

/** The queue of events that are to be told. */
export const eventQueue = 'events'
/** Told on the bus after a commit that has enqueued events, with an empty message. */
export const eventTopic = 'events'

/** Milliseconds until the year 5000 have 9 digits in base 36; 5 digits are 60 million events of one millisecond. */
const timeDigits = 9
const placeDigits = 5
const idStart = 'evt_'

/** Makes ids of events that sort as they were made, in one process; unique over all of them. */
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

/** The id of an event that each node makes for itself: the same for the same name and time (epoch milliseconds). */
export const eventIdOf = (at: number, name: string): string =>
  idStart +
  digits(at, timeDigits) +
  digits(0, placeDigits) +
  createHash('sha256').update(`${at} ${name}`).digest('hex').slice(0, 16)

const digits = (value: number, count: number): string => value.toString(36).padStart(count, '0')

/** The part of an event's id that sorts by time. */
export const orderOf = (eventId: string): string =>
  eventId.slice(idStart.length, idStart.length + timeDigits + placeDigits)

/** What the order of every event before a time is less than. @param at epoch milliseconds */
export const orderAt = (at: number): string => digits(at, timeDigits)

/** The event of somebody's organization as it waits. @param at epoch milliseconds */
export function queuedEvent(
  scope: OrganizationAddress,
  event: OutboundEvent,
  { id, at }: Pick<QueuedEvent, 'id' | 'at'>,
): QueuedEvent {
  const { workspaceId, apiKey, organizationId } = scope
  return { ...event, id, scope: { workspaceId, apiKey, organizationId }, at }
}

/** The job of telling an event, at once. */
export const eventJob = (event: QueuedEvent): Job => ({
  queue: eventQueue,
  id: event.id,
  at: 0,
  payload: Buffer.from(JSON.stringify(event)),
})

const queuedEventSchema = v.looseObject({
  // A newer node may record types that this one does not know: receivers get them all the same.
  type: v.custom<EventType>((type) => typeof type === 'string'),
  documentId: v.nullable(v.string()),
  actionUser: v.looseObject({
    userId: v.string(),
    email: v.exactOptional(v.string()),
    name: v.exactOptional(v.string()),
  }),
  data: v.record(v.string(), v.unknown()),
  id: v.string(),
  scope: addressSchemas.organization,
  at: v.number(),
})

/** The event of a job that `eventJob` has made. @throws MalformedJobError */
export const decodeQueuedEvent = (payload: Uint8Array): QueuedEvent => readPayload(queuedEventSchema, payload)
