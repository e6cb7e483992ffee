import { createHash, randomBytes } from 'node:crypto'
import * as s from '../base/schema.ts'
import {
  type TraceContext,
  type TraceHeaders,
  toTraceHeaders,
  traceHeadersSchema,
} from '../base/trace-context.ts'
import { readPayload } from '../jobs/job-payload.ts'
import type { OrganizationAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { namedUserSchema } from '../model/named-users.ts'
import type { Job } from '../store/engine.ts'
import type { ActionUser } from './activity.ts'
import { type EventType, eventTypes } from './event-types.ts'

export { type EventType, eventTypes } from './event-types.ts'

/** Event types by activity type, where one change causes both and the two types differ. */
export const eventTypesByActivity = {
  'crdt.editor_edit': 'crdt.update_data',
  'crdt.editor_delete': 'crdt.delete_data',
  'document.add': 'document.create',
} as const satisfies Readonly<Record<string, EventType>>

/**
 * Type of the event that reports a message to an endpoint as permanently failed. This event is not sent to
 * that endpoint.
 */
export const exhaustedType = 'message.attempt.exhausted' satisfies EventType

/**
 * Returns whether a name is an event type of this server. Callers may also subscribe to event types of other
 * servers; such subscriptions are stored, but no event matches them.
 */
export const isEventType = (name: string): name is EventType =>
  (eventTypes as readonly string[]).includes(name)

/** An event for external receivers. */
export interface OutboundEvent {
  readonly type: EventType
  /** Null if the event belongs to the organization as a whole. */
  readonly documentId: string | null
  readonly actionUser: ActionUser
  /** Data of the event by name: `annotation`, `comment`, … */
  readonly data: Readonly<Record<string, unknown>>
}

/** An event that waits for delivery. */
export interface QueuedEvent extends OutboundEvent {
  /** Globally unique id. */
  readonly id: string
  readonly scope: OrganizationAddress
  /** Time of the event in epoch milliseconds. */
  readonly at: number
  /**
   * Set if only the change feed and the callback `store` of the API key get the event, and webhooks do not. `store`
   * gets only those that are changes of content, with the same id for all changes of an editor. Absent: all
   * receivers except `store` get the event; the feed does not get changes and deletions of content.
   */
  readonly only?: 'feed'
  /**
   * Trace of the call that caused the event. Each delivery of the event continues it, on any node and at any time.
   */
  readonly trace?: TraceHeaders
}

/** Queue of events that wait for delivery. */
export const eventQueue = 'events'
/** Topic of the bus message that follows a commit with events. The message is empty. */
export const eventTopic = 'events'

/**
 * Numbers of base-36 digits that an event id uses for its time and for its place among events with the same
 * time. 9 digits are sufficient for milliseconds until the year 5000, and 5 digits for 60 million events in
 * the same millisecond.
 */
const timeDigits = 9
const placeDigits = 5
const idStart = 'evt_'

/** Generates unique ids of events. The ids of one process sort in the order in which they were generated. */
export class EventIds {
  #at = 0
  #place = 0

  /**
   * Returns the next id.
   * @param now epoch milliseconds
   */
  next(now: number): string {
    this.#place = now === this.#at ? this.#place + 1 : 0
    this.#at = now
    const order = digits(now, timeDigits) + digits(this.#place, placeDigits)
    return idStart + order + randomBytes(8).toString('hex')
  }
}

/**
 * Returns an event id that is computed from a name and a time (epoch milliseconds). All nodes compute the
 * same id, so that they can create the same event independently.
 */
export const eventIdOf = (at: number, name: string): string =>
  idStart +
  digits(at, timeDigits) +
  digits(0, placeDigits) +
  createHash('sha256').update(`${at} ${name}`).digest('hex').slice(0, 16)

const digits = (value: number, count: number): string => value.toString(36).padStart(count, '0')

/** Returns the part of an event id that sorts by time. */
export const orderOf = (eventId: string): string =>
  eventId.slice(idStart.length, idStart.length + timeDigits + placeDigits)

/**
 * Returns a text that is greater than the order (`orderOf`) of all events before `at` (epoch milliseconds).
 */
export const orderAt = (at: number): string => digits(at, timeDigits)

/**
 * Creates the queued event of an organization.
 * @param more `at`: epoch milliseconds; `trace`: null if the event belongs to no trace
 */
export function queuedEvent(
  scope: OrganizationAddress,
  event: OutboundEvent,
  more: Pick<QueuedEvent, 'id' | 'at'> & { readonly trace: TraceContext | null },
): QueuedEvent {
  const { workspaceId, apiKey, organizationId } = scope
  const { id, at, trace } = more
  const queued = { ...event, id, scope: { workspaceId, apiKey, organizationId }, at }
  return trace === null ? queued : { ...queued, trace: toTraceHeaders(trace) }
}

/** Returns the job that delivers an event. The job is due immediately. */
export const eventJob = (event: QueuedEvent): Job => ({
  queue: eventQueue,
  id: event.id,
  at: 0,
  payload: Buffer.from(JSON.stringify(event)),
})

export const queuedEventSchema = s.object(
  {
    // A newer node may record types that this node does not know. Receivers get these events anyway.
    type: s.trusted<EventType>(s.string),
    documentId: s.orNull(s.string),
    actionUser: namedUserSchema,
    data: s.map(s.unknown),
    id: s.string,
    scope: addressSchemas.organization,
    at: s.number,
  },
  { only: s.literal('feed'), trace: traceHeadersSchema },
)

/**
 * Decodes the event from a job that `eventJob` created.
 * @throws MalformedJobError
 */
export const decodeQueuedEvent = (payload: Uint8Array): QueuedEvent => readPayload(queuedEventSchema, payload)
