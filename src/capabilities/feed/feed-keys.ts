import { readPayload } from '../../core/jobs/job-payload.ts'
import type { Tenant } from '../../core/model/address.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import type { Job, Key } from '../../core/store/engine.ts'

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
