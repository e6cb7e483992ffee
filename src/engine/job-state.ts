import type { ClaimedJob, Job } from './engine.ts'
import { decodeKey, encodeKey, encodeNumber } from './key-encoding.ts'

/** A job between its enqueuing and its end: what happens to it, for every engine. */
export interface JobRecord {
  /** Due from then on, in epoch milliseconds; while leased, the end of the lease. */
  readonly at: number
  readonly attempt: number
  /** Names the last lease; '' when there is none to honour. */
  readonly lease: string
  readonly payload: Uint8Array
  /** Of the last attempt; '' before there was one. */
  readonly error: string
  /** Enqueued under the same id while this one was leased: it takes its place afterwards, so nothing is lost. */
  readonly next: { readonly at: number; readonly payload: Uint8Array } | null
}

/** Times are whole milliseconds: a delay with jitter is rounded up. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms))

/** To be asked before anything is written. @throws RangeError for a time that is none, TypeError for a broken id */
export function checkJobs(jobs: readonly Job[]): void {
  for (const { queue, id, at } of jobs) {
    encodeNumber(wholeMs(at))
    encodeKey([queue, id])
  }
}

/** Payloads may be views on buffers that are used again. */
export const copyOfJob = (job: Job): Job => ({ ...job, payload: new Uint8Array(job.payload) })

const isLeased = (record: JobRecord, now: number): boolean => record.lease !== '' && record.at > now

/** What is kept when `job` is enqueued; `record` itself when it is left as it is. */
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

/** Is this the lease of the token, and has it not ended? */
export const holdsLease = (record: JobRecord | null, lease: string, now: number): record is JobRecord =>
  record !== null && record.lease === lease && isLeased(record, now)

/** What is left when the job has ended. */
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

/** Names a lease to its holder. */
export interface JobLease {
  readonly queue: string
  readonly id: string
  readonly lease: string
}

export const leaseToken = ({ queue, id, lease }: JobLease): string =>
  encodeKey([queue, id, lease]).toString('base64url')

/** Null when no engine has made this token. */
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
