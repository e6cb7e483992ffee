import { attempt } from '../base/errors.ts'
import type { ClaimedJob, Job } from './engine.ts'
import { checkKey, checkNumber, decodeKey, encodeKey } from './key-encoding.ts'

/**
 * Stored state of a job, from the time it is enqueued until it ends. The functions of this file compute the
 * next state; all engines use them.
 */
export interface JobRecord {
  /** Due time in epoch milliseconds. While the job is leased, this is the end of the lease. */
  readonly at: number
  readonly attempt: number
  /** Id of the last lease; '' if there is none. */
  readonly lease: string
  readonly payload: Uint8Array
  /** Error of the last attempt; '' if that attempt had no error. */
  readonly error: string
  /**
   * A job that was enqueued with the same id while this job was leased. When this job ends, `next` replaces
   * it, so that no job is lost.
   */
  readonly next: { readonly at: number; readonly payload: Uint8Array } | null
}

/** Rounds a time or delay up to whole milliseconds. Fractions occur, for example, in delays with jitter. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms))

/**
 * Checks the times and ids of jobs. Call this function before anything is written.
 * @throws RangeError for an invalid time, TypeError for an invalid id
 */
export function checkJobs(jobs: readonly Job[]): void {
  for (const { queue, id, at } of jobs) {
    checkNumber(wholeMs(at))
    checkKey([queue, id])
  }
}

/** Returns a job with a copy of its payload, because the payload may be a view of a buffer that is reused. */
export const copyOfJob = (job: Job): Job => ({ ...job, payload: new Uint8Array(job.payload) })

const isLeased = (record: JobRecord, now: number): boolean => record.lease !== '' && record.at > now

/**
 * Returns the record to store when `job` is enqueued and `record` is already stored. Returns `record` itself
 * if nothing changes.
 */
export function enqueueJob(record: JobRecord | null, job: Job, now: number): JobRecord {
  const at = wholeMs(job.at)
  const payload = new Uint8Array(job.payload)
  if (record === null) return { at, attempt: 0, lease: '', payload, error: '', next: null }
  return isLeased(record, now) && record.next === null ? { ...record, next: { at, payload } } : record
}

export const leaseJob = (record: JobRecord, until: number, lease: string): JobRecord => ({
  ...record,
  at: wholeMs(until),
  attempt: record.attempt + 1,
  lease,
})

/** Returns whether `lease` is the current lease of the job and has not ended at `now`. */
export const holdsLease = (record: JobRecord | null, lease: string, now: number): record is JobRecord =>
  record !== null && record.lease === lease && isLeased(record, now)

/** Returns the record that replaces a job when the job ends; null if no job with the same id waits. */
export const endJob = ({ next }: JobRecord): JobRecord | null =>
  next === null ? null : { ...next, attempt: 0, lease: '', error: '', next: null }

export const extendLease = (record: JobRecord, until: number): JobRecord => ({
  ...record,
  at: wholeMs(until),
})

export const rescheduleJob = (record: JobRecord, at: number, error: string): JobRecord => ({
  ...record,
  at: wholeMs(at),
  lease: '',
  error,
})

/** Identifies one lease of one job. */
export interface JobLease {
  readonly queue: string
  readonly id: string
  readonly lease: string
}

const leaseToken = ({ queue, id, lease }: JobLease): string =>
  encodeKey([queue, id, lease]).toString('base64url')

/** Parses the token of a lease. Returns null if the token is malformed; no engine has issued such a token. */
export function parseLeaseToken(token: string): JobLease | null {
  const [queue, id, lease] = attempt(() => decodeKey(Buffer.from(token, 'base64url')), [])
  return queue === undefined || id === undefined || !lease ? null : { queue, id, lease }
}

export const claimJob = (queue: string, id: string, record: JobRecord): ClaimedJob => ({
  token: leaseToken({ queue, id, lease: record.lease }),
  id,
  payload: record.payload,
  attempt: record.attempt,
})
