import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { ClaimedJob, Job, Queue } from '../engine.ts'
import type { Gate } from '../gate.ts'
import {
  checkJobs,
  claimed,
  ended,
  enqueued,
  extended,
  holds,
  type JobRecord,
  leased,
  leaseOf,
  retried,
} from '../jobs.ts'
import { known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import type { DueJob, JobCell, JobTable } from './job-table.ts'

/** Jobs whose records are in memory, about to be enqueued. */
export interface PinnedJobs {
  /** Adds them to the group commit, without waiting. */
  enqueue(): void
  release(): void
}

/** Due jobs looked at in one read, beyond those wanted: some may have been taken a moment ago. */
const lookAhead = 64

export class LevelQueue implements Queue {
  readonly #gate: Gate
  readonly #table: JobTable
  readonly #commit: GroupCommit
  readonly #clock: Clock

  constructor(parts: { gate: Gate; table: JobTable; commit: GroupCommit; clock: Clock }) {
    this.#gate = parts.gate
    this.#table = parts.table
    this.#commit = parts.commit
    this.#clock = parts.clock
  }

  /** Part of a commit of the log or of the Kv. @throws RangeError, TypeError as `checkJobs` */
  async pin(jobs: readonly Job[]): Promise<PinnedJobs> {
    checkJobs(jobs)
    const pinned = jobs.map((job) => ({ job, cell: this.#table.pin(job.queue, job.id) }))
    const release = () => {
      for (const { cell } of pinned) this.#table.unpin(cell)
    }
    const enqueue = () => {
      for (const { job, cell } of pinned) this.#enqueue(job, cell)
    }
    try {
      for (const { cell } of pinned) await cell.ready
      return { release, enqueue }
    } catch (error) {
      release()
      throw error
    }
  }

  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]> {
    return this.#gate.run(async () => {
      this.#commit.admit()
      const found: ClaimedJob[] = []
      const now = this.#clock.now()
      let after: DueJob | undefined
      while (found.length < count) {
        const due = await this.#table.due(queue, { now, after, limit: count - found.length + lookAhead })
        for (const job of due) {
          if (found.length < count) found.push(...(await this.#take(queue, job, leaseMs)))
        }
        after = due.at(-1)
        if (after === undefined) break
      }
      if (found.length > 0) await this.#commit.durable()
      return found
    })
  }

  extend(token: string, leaseMs: number): Promise<boolean> {
    return this.#change(token, (record, now) => extended(record, now + leaseMs))
  }

  done(token: string): Promise<boolean> {
    return this.#change(token, ended)
  }

  retry(token: string, delayMs: number, error: string): Promise<boolean> {
    return this.#change(token, (record, now) => retried(record, now + delayMs, error))
  }

  bury(token: string, error: string): Promise<boolean> {
    return this.#change(token, (record, now, { key }) => {
      this.#table.putAside(key, { ...retried(record, now, error), next: null }, record.lease)
      return ended(record)
    })
  }

  #enqueue(job: Job, cell: JobCell): void {
    const before = known(cell)
    const record = enqueued(before, job, this.#clock.now())
    if (record !== before) this.#table.write(cell, record)
  }

  /** Nothing when it is not due any more. */
  async #take(queue: string, due: DueJob, leaseMs: number): Promise<ClaimedJob[]> {
    const cell = this.#table.pin(queue, due.id)
    try {
      await cell.ready
      const record = known(cell)
      if (record?.at !== due.at) {
        this.#table.forgetDue(queue, due)
        return []
      }
      const taken = leased(record, this.#clock.now() + leaseMs, randomUUID())
      this.#table.write(cell, taken)
      return [claimed(queue, due.id, taken)]
    } finally {
      this.#table.unpin(cell)
    }
  }

  #change(
    token: string,
    change: (record: JobRecord, now: number, cell: JobCell) => JobRecord | null,
  ): Promise<boolean> {
    return this.#gate.run(async () => {
      const lease = leaseOf(token)
      if (lease === null) return false
      this.#commit.admit()
      const cell = this.#table.pin(lease.queue, lease.id)
      try {
        await cell.ready
        const [record, now] = [known(cell), this.#clock.now()]
        if (!holds(record, lease.lease, now)) return false
        this.#table.write(cell, change(record, now, cell))
      } finally {
        this.#table.unpin(cell)
      }
      await this.#commit.durable()
      return true
    })
  }
}
