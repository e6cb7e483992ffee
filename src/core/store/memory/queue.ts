import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { memoized } from '../../base/maps.ts'
import type { ClaimedJob, Job, Queue } from '../engine.ts'
import {
  claimJob,
  endJob,
  enqueueJob,
  extendLease,
  holdsLease,
  type JobLease,
  type JobRecord,
  leaseJob,
  parseLeaseToken,
  rescheduleJob,
} from '../job-state.ts'
import { encodeKey, encodeNumber } from '../key-encoding.ts'
import type { OpenCalls } from '../open-calls.ts'
import { SortedMap } from '../sorted-map.ts'

/** The jobs of one queue by id, and the ids of the jobs in the order of their due times. */
interface JobTable {
  readonly byId: Map<string, JobRecord>
  readonly due: SortedMap<string>
  readonly deadLetters: Map<string, JobRecord>
}

export class MemoryQueue implements Queue {
  readonly #gate: OpenCalls
  readonly #clock: Clock
  readonly #queues = new Map<string, JobTable>()

  constructor(gate: OpenCalls, clock: Clock) {
    this.#gate = gate
    this.#clock = clock
  }

  /** Enqueues jobs as part of a commit of the log or of the Kv. */
  enqueue(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const queue = this.#jobs(job.queue)
      set(queue, job.id, enqueueJob(queue.byId.get(job.id) ?? null, job, this.#clock.now()))
    }
  }

  async claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]> {
    this.#gate.pass()
    const now = this.#clock.now()
    const jobs = this.#jobs(queue)
    const due = jobs.due.range({ gte: Buffer.alloc(0), lt: encodeNumber(now + 1) })
    const ids: string[] = []
    for (const [, id] of due) {
      if (ids.length >= count) break
      ids.push(id)
    }
    return ids.map((id) => {
      const record = leaseJob(jobs.byId.get(id) as JobRecord, now + leaseMs, randomUUID())
      set(jobs, id, record)
      return claimJob(queue, id, record)
    })
  }

  async extend(token: string, leaseMs: number): Promise<boolean> {
    return this.#change(token, (record, now) => extendLease(record, now + leaseMs))
  }

  async done(token: string): Promise<boolean> {
    return this.#change(token, endJob)
  }

  async retry(token: string, delayMs: number, error: string): Promise<boolean> {
    return this.#change(token, (record, now) => rescheduleJob(record, now + delayMs, error))
  }

  async moveToDeadLetters(token: string, error: string): Promise<boolean> {
    return this.#change(token, (record, now, { queue, id }) => {
      this.#jobs(queue).deadLetters.set(id, rescheduleJob(record, now, error))
      return endJob(record)
    })
  }

  #change(
    token: string,
    change: (record: JobRecord, now: number, lease: JobLease) => JobRecord | null,
  ): boolean {
    this.#gate.pass()
    const lease = parseLeaseToken(token)
    if (lease === null) return false
    const jobs = this.#jobs(lease.queue)
    const record = jobs.byId.get(lease.id) ?? null
    const now = this.#clock.now()
    if (!holdsLease(record, lease.lease, now)) return false
    set(jobs, lease.id, change(record, now, lease))
    return true
  }

  #jobs(queue: string): JobTable {
    return memoized(
      this.#queues,
      queue,
      (): JobTable => ({ byId: new Map(), due: new SortedMap(), deadLetters: new Map() }),
    )
  }
}

function set({ byId, due }: JobTable, id: string, record: JobRecord | null): void {
  const before = byId.get(id)
  if (before !== undefined) due.delete(dueKey(before.at, id))
  if (record === null) {
    byId.delete(id)
    return
  }
  byId.set(id, record)
  due.set(dueKey(record.at, id), id)
}

const dueKey = (at: number, id: string): Buffer => Buffer.concat([encodeNumber(at), encodeKey([id])])
