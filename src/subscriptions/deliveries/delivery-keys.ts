import * as v from 'valibot'
import type { Job, Key } from '../../engine/engine.ts'
import { readPayload } from '../../jobs/job-payload.ts'
import type { DeliveryStatus, MessageRecord, TargetAddress } from './delivery-records.ts'

/** Number of digits of a time in epoch milliseconds, up to the year 9999. */
const timeDigits = 15

/** The partition with all records of the deliveries to one target. */
export const deliveriesPart = ({ workspaceId, apiKey, targetId }: TargetAddress): Key => [
  'deliveries',
  workspaceId,
  apiKey,
  targetId,
]

export const deliveryKeys = {
  state: ['state'] as Key,
  messages: ['messages'] as Key,
  message: (id: string): Key => ['messages', id],
  /** The event of a message. Its record never changes. */
  event: (id: string): Key => ['events', id],
  /** Index: pending messages, by the time of their next attempt. */
  due: ['due'] as Key,
  dueAt: (at: number, id: string): Key => ['due', String(at).padStart(timeDigits, '0'), id],
  /** Index: messages of a status, by the time of the event. */
  by: (status: DeliveryStatus): Key => ['by', status],
  byStatus: (status: DeliveryStatus, id: string): Key => ['by', status, id],
  /** Index: messages of an organization, for its removal. */
  of: (organizationId: string): Key => ['of', organizationId],
  ofOrganization: (organizationId: string, id: string): Key => ['of', organizationId, id],
}

/** Returns the time in a key of `dueAt`, in epoch milliseconds. */
export const timeIn = (key: Key): number => Number(key[1])

/** Queue of targets with due messages. */
export const serveQueue = 'webhooks'
/**
 * Queue of targets whose messages are due later. When such a job is due, it enqueues a job of `serveQueue`.
 */
export const retryQueue = 'webhooks-retries'
/** Queue of targets whose delivery log must be swept. */
export const sweepQueue = 'webhooks-sweeps'

/** Bus topic of notices that some target has due messages. The notices are empty. */
export const deliveryTopic = 'deliveries'

const nameOf = ({ workspaceId, apiKey, targetId }: TargetAddress): readonly string[] => [
  workspaceId,
  apiKey,
  targetId,
]

/** Returns the unique name of a target. */
export const targetName = (address: TargetAddress): string => JSON.stringify(nameOf(address))

const nameSchema = v.looseTuple([v.string(), v.string(), v.string()])

/** Reads the target of a job. @throws MalformedJobError */
export function targetOf(payload: Uint8Array): TargetAddress {
  const [workspaceId, apiKey, targetId] = readPayload(nameSchema, payload)
  return { workspaceId, apiKey, targetId }
}

const jobOf = (queue: string, address: TargetAddress, at: number, id = targetName(address)): Job => ({
  queue,
  id,
  at,
  payload: Buffer.from(targetName(address)),
})

/**
 * Creates a job that serves a target.
 * @param now epoch milliseconds: jobs are sorted by this time, so that the target with the longest wait comes
 * first
 */
export const serveJob = (address: TargetAddress, now: number): Job => jobOf(serveQueue, address, now)

/**
 * Creates the job of a retry. Each message has its own job, because a waiting job is never moved to an
 * earlier time.
 */
export const retryJob = (address: TargetAddress, { id }: MessageRecord, at: number): Job =>
  jobOf(retryQueue, address, at, JSON.stringify([...nameOf(address), id]))

export const sweepJob = (address: TargetAddress, at: number): Job => jobOf(sweepQueue, address, at)
