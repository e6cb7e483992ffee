import type { ClaimedJob, Job } from './engine.ts'
import { decodeKey, encodeKey, encodeNumber } from './key-encoding.ts'

/** A job from its enqueuing to its end. All engines use these state changes. */
export interface JobRecord {
  /** Due time in epoch milliseconds; while leased, the end of the lease. */
  readonly at: number
  readonly attempt: number
  /** Id of the last lease; '' if no lease is valid. */
  readonly lease: string
  readonly payload: Uint8Array
  /** Error of the last attempt; '' before the first one. */
  readonly error: string
  /**
   * A job that was enqueued under the same id while this one was leased. It replaces this one at its end, so
   * that no job is lost.
   */
  readonly next: { readonly at: number; readonly payload: Uint8Array } | null
}

/** Times are whole milliseconds; a delay with jitter is rounded up. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms))

/**
 * Checks jobs; call before anything is written.
 * @throws RangeError for an invalid time, TypeError for an invalid id
 */
export function checkJobs(jobs: readonly Job[]): void {
  for (const { queue, id, at } of jobs) {
    encodeNumber(wholeMs(at))
    encodeKey([queue, id])
  }
}

/** Returns a copy: payloads may be views on buffers that are reused. */
export const copyOfJob = (job: Job): Job => ({ ...job, payload: new Uint8Array(job.payload) })

const isLeased = (record: JobRecord, now: number): boolean => record.lease !== '' && record.at > now

/** Returns the record to store when `job` is enqueued; `record` itself if it stays unchanged. */
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

/** Returns whether the token's lease is the current one and has not ended. */
export const holdsLease = (record: JobRecord | null, lease: string, now: number): record is JobRecord =>
  record !== null && record.lease === lease && isLeased(record, now)

/** Returns the record that replaces a job at its end; null if none does. */
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

/** Identifies a lease to its holder. */
export interface JobLease {
  readonly queue: string
  readonly id: string
  readonly lease: string
}

export const leaseToken = ({ queue, id, lease }: JobLease): string =>
  encodeKey([queue, id, lease]).toString('base64url')

/** Parses a token. Null if no engine has issued it. */
export function parseLeaseToken(token: string): JobLease | null {
  try {
    const [queue, id, lease] = decodeKey(Buffer.from(token, 'base64url'))
    return queue === undefined || id === undefined || !lease ? null : { queue, id, lease }
  } catch {
    return null
  }
}

export const claimJob = (queue: string, id: string, record: JobRecord): ClaimedJob => ({
  token: leaseToken({ queue, id, lease: record.lease }),
  id,
  payload: record.payload,
  attempt: record.attempt,
})
