import { randomUUID } from 'node:crypto'
import type { Job } from '../engine/engine.ts'
import type { OrganizationAddress } from '../model/address.ts'
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
export interface StoredEvent extends OutboundEvent {
  /** Unique for ever. */
  readonly id: string
  readonly scope: OrganizationAddress
  /** Epoch milliseconds. */
  readonly at: number
}

/** The queue of events that are to be told. */
export const eventQueue = 'events'

/** The job of telling an event. @param at epoch milliseconds */
export function eventJob(scope: OrganizationAddress, event: OutboundEvent, at: number): Job {
  const { workspaceId, apiKey, organizationId } = scope
  const stored = { ...event, id: randomUUID(), scope: { workspaceId, apiKey, organizationId }, at }
  return {
    queue: eventQueue,
    id: stored.id,
    at: 0,
    payload: Buffer.from(JSON.stringify(stored satisfies StoredEvent)),
  }
}

/** The event of a job that `eventJob` has made. */
export const storedEventOf = (payload: Uint8Array): StoredEvent =>
  JSON.parse(Buffer.from(payload).toString()) as StoredEvent
