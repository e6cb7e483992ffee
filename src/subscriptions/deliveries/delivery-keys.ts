import * as v from 'valibot'
import type { Job, Key } from '../../engine/engine.ts'
import { readPayload } from '../../jobs/job-payload.ts'
import type { DeliveryStatus, MessageRecord, TargetAddress } from './delivery-records.ts'

/** Milliseconds of the year 9999. */
const timeDigits = 15

/** All that is kept of what is sent to one target. */
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
  /** What is sent; written once. */
  event: (id: string): Key => ['events', id],
  /** Index: those that wait, by the time of their next attempt. */
  due: ['due'] as Key,
  dueAt: (at: number, id: string): Key => ['due', String(at).padStart(timeDigits, '0'), id],
  /** Index by the time of the event. */
  by: (status: DeliveryStatus): Key => ['by', status],
  byStatus: (status: DeliveryStatus, id: string): Key => ['by', status, id],
  /** Index: what has to go when an organization is deleted. */
  of: (organizationId: string): Key => ['of', organizationId],
  ofOrganization: (organizationId: string, id: string): Key => ['of', organizationId, id],
}

/** Epoch milliseconds of a key of `dueAt`. */
export const timeIn = (key: Key): number => Number(key[1])

/** Queue: targets that have something to do now. */
export const serveQueue = 'webhooks'
/** Queue: targets that have something to do later; then they are put into the other one. */
export const retryQueue = 'webhooks-retries'
/** Queue: targets whose log is to be shortened. */
export const sweepQueue = 'webhooks-sweeps'

/** Told on the bus when targets have something to do, with an empty message. */
export const deliveryTopic = 'deliveries'

const nameOf = ({ workspaceId, apiKey, targetId }: TargetAddress): readonly string[] => [
  workspaceId,
  apiKey,
  targetId,
]

/** The same for the same target, whoever says it. */
export const targetName = (address: TargetAddress): string => JSON.stringify(nameOf(address))

const nameSchema = v.looseTuple([v.string(), v.string(), v.string()])

/** The target that a job is about. @throws MalformedJobError */
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

/** @param now epoch milliseconds, so that those who have waited longest come first */
export const serveJob = (address: TargetAddress, now: number): Job => jobOf(serveQueue, address, now)

/** One for each message: a job that waits is never moved to an earlier time. */
export const retryJob = (address: TargetAddress, { id }: MessageRecord, at: number): Job =>
  jobOf(retryQueue, address, at, JSON.stringify([...nameOf(address), id]))

export const sweepJob = (address: TargetAddress, at: number): Job => jobOf(sweepQueue, address, at)
