import * as s from '../../core/base/schema.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import { readPayload } from '../../core/jobs/job-payload.ts'
import type { Tenant } from '../../core/model/address.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import { namedUserSchema } from '../../core/model/named-users.ts'
import type { Job, Key } from '../../core/store/engine.ts'

/** State of the feed of an API key. */
export const feedStateType = {
  name: 'state of a feed',
  schema: s.object({
    /** False if the feed is off. Its records are then removed. */
    enabled: s.boolean,
    /** Changes each time the feed is enabled. Cursors of an earlier generation are invalid. */
    generation: s.string,
    /** Number of the last event; 0 if there was none. */
    last: s.number,
    /** The events up to this number were removed because of their age or number. */
    trimmed: s.number,
    /** No stored event was added before this time, in epoch milliseconds. */
    oldestAt: s.number,
    /** The chains (see `FeedEntry`) of the events `last` and `trimmed`; '' if the generation has no such event. */
    lastChain: s.string,
    trimmedChain: s.string,
  }),
}
export type FeedState = s.TypeOf<typeof feedStateType.schema>

export interface FeedEvent {
  readonly type: string
  /** Time of the event in epoch milliseconds. */
  readonly at: number
  readonly organizationId: string
  /** Null if the event belongs to the organization as a whole. */
  readonly documentId: string | null
  readonly actionUser: ActionUser
  readonly data: Readonly<Record<string, unknown>>
}

/** Members of the data of events whose value is the id of a user. */
export const userIdMembers: readonly string[] = ['createdBy', 'onBehalfOf']

/** A place in the feed. */
export const feedEntryType = {
  name: 'event of a feed',
  schema: s.object({
    id: s.string,
    /**
     * A hash of the ids of this event and of all earlier events of the generation. Two histories of a feed have the
     * same chain at an event only if all their events up to it are the same.
     */
    chain: s.string,
    /** Time at which the event was added, in epoch milliseconds. */
    addedAt: s.number,
    /** Null if the event was removed with its organization. The place stays, so that cursors stay valid. */
    event: s.orNull(
      s.object({
        type: s.string,
        at: s.number,
        organizationId: s.string,
        documentId: s.orNull(s.string),
        actionUser: namedUserSchema,
        data: s.map(s.unknown),
      }),
    ),
  }),
}
export type FeedEntry = s.TypeOf<typeof feedEntryType.schema>

/** The version that the last event of an editor has. */
export const editorPositionType = {
  name: 'position of an editor in a feed',
  schema: s.object({
    /** Generation of the feed in which the event was added. */
    generation: s.string,
    epoch: s.number,
    seq: s.number,
  }),
}
export type EditorPosition = s.TypeOf<typeof editorPositionType.schema>

/** Number of digits that a number of an event has in a key. Texts in this form sort by number. */
const numberDigits = 15

const digits = (number: number): string => String(number).padStart(numberDigits, '0')

/** Returns the partition with all records of the feed of an API key. */
export const feedPart = ({ workspaceId, apiKey }: Tenant): Key => ['feed', workspaceId, apiKey]

/** Returns whether a partition has the records of a feed. */
export const isFeedPart = ([name]: Key): boolean => name === feedPart({ workspaceId: '', apiKey: '' })[0]

export const feedKeys = {
  state: ['state'] satisfies Key,
  /** All events, sorted by number. */
  entries: ['entries'] satisfies Key,
  entry: (number: number): Key => ['entries', digits(number)],
  /** Index: the number of the event with an id. A repeated append finds its events here. */
  numberOf: (eventId: string): Key => ['numbers', eventId],
  /** Index: the events of an organization, sorted by number. */
  of: (organizationId: string): Key => ['of', organizationId],
  ofOrganization: (organizationId: string, number: number): Key => ['of', organizationId, digits(number)],
  /** Index: the events of an organization that mention a user, sorted by number. */
  naming: (organizationId: string, userId: string): Key => ['naming', organizationId, userId],
  namingUser: (organizationId: string, userId: string, number: number): Key => [
    'naming',
    organizationId,
    userId,
    digits(number),
  ],
  /** The version that the last event of each editor has. */
  editorsOf: (organizationId: string): Key => ['editors', organizationId],
  editorsIn: (organizationId: string, documentId: string): Key => ['editors', organizationId, documentId],
  editor: (organizationId: string, documentId: string, editorId: string): Key => [
    'editors',
    organizationId,
    documentId,
    editorId,
  ],
}

/** Returns the number in the last segment of a key. */
export const numberIn = (key: Key): number => Number(key.at(-1))

/** Topic on the bus. A notice on this topic means that a feed has new events. */
export const feedTopic = 'feed'

export const encodeFeedNotice = ({ workspaceId, apiKey }: Tenant): Uint8Array =>
  Buffer.from(JSON.stringify({ workspaceId, apiKey }))

/** Queue with one job for each feed that has events, or that must be removed. */
export const feedSweepQueue = 'feed-sweeps'
/** Interval in ms at which old events of a feed are removed (10 min). */
export const feedSweepMs = 600_000

/**
 * Creates the job that removes old events of a feed.
 * @param at epoch milliseconds
 */
export const feedSweepJob = ({ workspaceId, apiKey }: Tenant, at: number): Job => ({
  queue: feedSweepQueue,
  id: JSON.stringify([workspaceId, apiKey]),
  at,
  payload: encodeFeedNotice({ workspaceId, apiKey }),
})

/** Returns the API key to which the payload of a job refers. @throws MalformedJobError */
export const feedOfJob = (payload: Uint8Array): Tenant => readPayload(addressSchemas.tenant, payload)
