import { randomUUID } from 'node:crypto'
import type { ClaimedJob, Job, Queue } from '../../engine.ts'
import {
  checkJobs,
  claimJob,
  endJob,
  enqueueJob,
  extendLease,
  holdsLease,
  type JobRecord,
  leaseJob,
  parseLeaseToken,
  rescheduleJob,
} from '../../job-state.ts'
import type { LevelCore } from '../store/level-core.ts'
import { isLoading, known } from '../store/write-through-cache.ts'
import type { DueJob, JobCell, JobTable } from './job-table.ts'

/** Jobs whose records are loaded, so that they can be enqueued without waiting. */
export interface PinnedJobs {
  /**
   * Adds all jobs to the group commit, without waiting. If `enqueue` throws, it has added nothing. Call it
   * before you add other operations of the same commit.
   */
  enqueue(): void
  release(): void
}

interface JobPin {
  readonly job: Job
  readonly cell: JobCell
}

export class LevelQueue implements Queue {
  readonly #core: LevelCore
  readonly #table: JobTable

  constructor(core: LevelCore, table: JobTable) {
    this.#core = core
    this.#table = table
  }

  /**
   * Loads and pins the jobs that a commit of the log or of the Kv will enqueue.
   * @throws RangeError, TypeError as `checkJobs`
   */
  async pin(jobs: readonly Job[]): Promise<PinnedJobs> {
    checkJobs(jobs)
    const pinned = jobs.map((job) => this.#pin(job))
    const all = this.#pinnedJobs(pinned)
    try {
      for (const { cell } of pinned) if (isLoading(cell)) await cell.ready
      return all
    } catch (error) {
      all.release()
      throw error
    }
  }

  /** Like `pin` for checked jobs, but without waiting. Returns null unless the ids of all jobs are new. */
  pinNew(jobs: readonly Job[]): PinnedJobs | null {
    if (!jobs.every(({ isNew }) => isNew === true)) return null
    return this.#pinnedJobs(jobs.map((job) => this.#pin(job)))
  }

  #pin(job: Job): JobPin {
    const { queue, id, isNew = false } = job
    return { job, cell: isNew ? this.#table.pinNew(queue, id) : this.#table.pin(queue, id) }
  }

  #pinnedJobs(pinned: readonly JobPin[]): PinnedJobs {
    return {
      enqueue: () => {
        for (const add of this.#prepared(pinned)) add()
      },
      release: () => {
        for (const { cell } of pinned) this.#table.unpin(cell)
      },
    }
  }

  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]> {
    return this.#core.gate.run(async () => {
      this.#core.commit.admit()
      const found: ClaimedJob[] = []
      const now = this.#core.clock.now()
      while (found.length < count) {
        const due = await this.#table.due(queue, now, count - found.length)
        if (due.length === 0) break
        for (const job of due) {
          const cell = this.#table.pin(queue, job.id)
          try {
            if (isLoading(cell)) await cell.ready
            const taken = this.#take(queue, job, cell, leaseMs)
            if (taken !== null) found.push(taken)
          } finally {
            this.#table.unpin(cell)
          }
        }
      }
      if (found.length > 0) await this.#core.commit.durable()
      return found
    })
  }

  extend(token: string, leaseMs: number): Promise<boolean> {
    return this.#change(token, (record, now) => extendLease(record, now + leaseMs))
  }

  done(token: string): Promise<boolean> {
    return this.#change(token, endJob)
  }

  retry(token: string, delayMs: number, error: string): Promise<boolean> {
    return this.#change(token, (record, now) => rescheduleJob(record, now + delayMs, error))
  }

  moveToDeadLetters(token: string, error: string): Promise<boolean> {
    return this.#change(token, endJob, (record, now, { key }) =>
      this.#table.putAside(key, { ...rescheduleJob(record, now, error), next: null }, record.lease),
    )
  }

  /**
   * Prepares the writes of the jobs. If the same job occurs twice, merges the second occurrence with the
   * record of the first one.
   */
  #prepared(pinned: readonly JobPin[]): readonly (() => void)[] {
    const now = this.#core.clock.now()
    const records = new Map<JobCell, JobRecord>()
    for (const { job, cell } of pinned)
      records.set(cell, enqueueJob(records.get(cell) ?? known(cell), job, now))
    return [...records]
      .filter(([cell, record]) => record !== known(cell))
      .map(([cell, record]) => this.#table.prepare(cell, record))
  }

  /** Claims one job. Returns null if the job is no longer due. */
  #take(queue: string, due: DueJob, cell: JobCell, leaseMs: number): ClaimedJob | null {
    const record = known(cell)
    if (record?.at !== due.at) {
      this.#table.forgetDue(queue, due)
      return null
    }
    const taken = leaseJob(record, this.#core.clock.now() + leaseMs, randomUUID())
    this.#table.write(cell, taken)
    return claimJob(queue, due.id, taken)
  }

  #change(
    token: string,
    change: (record: JobRecord, now: number) => JobRecord | null,
    alsoAdd: (record: JobRecord, now: number, cell: JobCell) => void = () => undefined,
  ): Promise<boolean> {
    return this.#core.gate.run(async () => {
      const lease = parseLeaseToken(token)
      if (lease === null) return false
      this.#core.commit.admit()
      const cell = this.#table.pin(lease.queue, lease.id)
      try {
        if (isLoading(cell)) await cell.ready
        const [record, now] = [known(cell), this.#core.clock.now()]
        if (!holdsLease(record, lease.lease, now)) return false
        const add = this.#table.prepare(cell, change(record, now))
        alsoAdd(record, now, cell)
        add()
      } finally {
        this.#table.unpin(cell)
      }
      await this.#core.commit.durable()
      return true
    })
  }
}
