import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { ClaimedJob, Job, Queue } from '../engine.ts'
import type { Gate } from '../gate.ts'
import {
  claimed,
  ended,
  enqueued,
  holds,
  type JobRecord,
  type Lease,
  leased,
  leaseOf,
  retried,
} from '../jobs.ts'
import { decodeKey, decodeNumber, encodeKey, encodeNumber } from '../keys.ts'
import { type Cell, Cells, known } from './cells.ts'
import type { GroupCommit } from './commit.ts'
import type { Disk } from './disk.ts'
import { decodeJob, encodeJob } from './job-records.ts'
import { named } from './naming.ts'
import { inSpace, spaces, under } from './spaces.ts'

type JobCell = Cell<JobRecord | null>

/** Jobs whose records are in memory, about to be enqueued. */
export interface PinnedJobs {
  /** Adds them to the group commit, without waiting. */
  enqueue(): void
  release(): void
}

interface DueJob {
  readonly id: string
  readonly at: number
}

/** Due jobs looked at in one read, beyond those wanted. */
const lookAhead = 64

/**
 * Jobs by id, and an index of when they are due. A leased job is due at the end of its lease, so that nothing has to
 * be done for those whose holder is gone.
 */
export class LevelQueue implements Queue {
  readonly #gate: Gate
  readonly #disk: Disk
  readonly #commit: GroupCommit
  readonly #clock: Clock
  readonly #jobs: Cells<JobRecord | null>

  constructor(parts: { gate: Gate; disk: Disk; commit: GroupCommit; clock: Clock }) {
    this.#gate = parts.gate
    this.#disk = parts.disk
    this.#commit = parts.commit
    this.#clock = parts.clock
    this.#jobs = new Cells((key) => this.#read(key), 0)
  }

  /** Part of a commit of the log or of the Kv. @throws RangeError when a time is not a whole number from 0 */
  async pin(jobs: readonly Job[]): Promise<PinnedJobs> {
    for (const { at } of jobs) encodeNumber(at)
    const pinned = jobs.map((job) => ({
      job: { ...job, payload: new Uint8Array(job.payload) },
      cell: this.#pin(job.queue, job.id),
    }))
    const release = () => {
      for (const { cell } of pinned) this.#jobs.unpin(cell)
    }
    try {
      for (const { cell } of pinned) await cell.ready
    } catch (error) {
      release()
      throw error
    }
    return {
      release,
      enqueue: () => {
        for (const { job, cell } of pinned) this.#enqueue(job, cell)
      },
    }
  }

  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]> {
    return this.#gate.run(() =>
      named('queue', [queue], async () => {
        this.#commit.admit()
        const found: ClaimedJob[] = []
        const now = this.#clock.now()
        let after: Buffer | undefined
        for (;;) {
          const due = await this.#due(queue, { now, after, limit: count - found.length + lookAhead })
          for (const job of due) {
            if (found.length >= count) break
            const taken = await this.#take(queue, job, leaseMs)
            if (taken !== null) found.push(taken)
          }
          const last = due.at(-1)
          if (last === undefined || found.length >= count) break
          after = dueKey(queue, last.at, last.id)
        }
        if (found.length > 0) await this.#commit.durable()
        return found
      }),
    )
  }

  extend(token: string, leaseMs: number): Promise<boolean> {
    return this.#change(token, (record, now) => ({ ...record, at: now + leaseMs }))
  }

  done(token: string): Promise<boolean> {
    return this.#change(token, ended)
  }

  retry(token: string, delayMs: number, error: string): Promise<boolean> {
    return this.#change(token, (record, now) => retried(record, now + delayMs, error))
  }

  bury(token: string, error: string): Promise<boolean> {
    return this.#change(token, (record, now, { queue, id, lease }) => {
      const key = inSpace(spaces.buried, encodeKey([queue, id, lease]))
      this.#commit.put(key, encodeJob(key, { ...retried(record, now, error), next: null }))
      return ended(record)
    })
  }

  /** After a write whose outcome is unknown. */
  forget(): void {
    this.#jobs.forget()
  }

  #enqueue(job: Job, cell: JobCell): void {
    const before = known(cell)
    const record = enqueued(before, job, this.#clock.now())
    if (record !== before) this.#write(job.queue, job.id, cell, record)
  }

  /** Null when it is not due any more. */
  async #take(queue: string, due: DueJob, leaseMs: number): Promise<ClaimedJob | null> {
    const cell = this.#pin(queue, due.id)
    try {
      await cell.ready
      const record = known(cell)
      if (record === null || record.at !== due.at) return null
      const taken = leased(record, this.#clock.now() + leaseMs, randomUUID())
      this.#write(queue, due.id, cell, taken)
      return claimed(queue, due.id, taken)
    } finally {
      this.#jobs.unpin(cell)
    }
  }

  #change(
    token: string,
    change: (record: JobRecord, now: number, lease: Lease) => JobRecord | null,
  ): Promise<boolean> {
    return this.#gate.run(async () => {
      const lease = leaseOf(token)
      if (lease === null) return false
      this.#commit.admit()
      const cell = this.#pin(lease.queue, lease.id)
      try {
        await named('job', [lease.queue, lease.id], () => cell.ready)
        const record = known(cell)
        const now = this.#clock.now()
        if (!holds(record, lease.lease, now)) return false
        this.#write(lease.queue, lease.id, cell, change(record, now, lease))
      } finally {
        this.#jobs.unpin(cell)
      }
      await this.#commit.durable()
      return true
    })
  }

  /** Pins the cell until it is durable. */
  #write(queue: string, id: string, cell: JobCell, record: JobRecord | null): void {
    const before = known(cell)
    const after = record && { value: encodeJob(cell.key, record), due: dueKey(queue, record.at, id) }
    if (before !== null) this.#commit.delete(dueKey(queue, before.at, id))
    if (after === null) this.#commit.delete(cell.key)
    else {
      this.#commit.put(cell.key, after.value)
      this.#commit.put(after.due, nothing)
    }
    this.#pin(queue, id)
    this.#jobs.set(cell, record)
    const unpin = () => this.#jobs.unpin(cell)
    this.#commit.wait({ durable: unpin, lost: unpin })
  }

  async #due(
    queue: string,
    { now, after, limit }: { now: number; after: Buffer | undefined; limit: number },
  ): Promise<DueJob[]> {
    const space = under(spaces.due, encodeKey([queue]))
    const gte = after === undefined ? space : Buffer.concat([after, Buffer.alloc(1)])
    const range = { gte, lt: Buffer.concat([space, encodeNumber(now + 1)]) }
    return this.#disk.read(async (store) => {
      const found: DueJob[] = []
      for await (const page of store.pages(range, { limit, values: false })) {
        for (const [key] of page) {
          const [id] = decodeKey(key.subarray(space.length + 8))
          found.push({ at: decodeNumber(key, space.length), id: id as string })
        }
      }
      return found
    })
  }

  #pin(queue: string, id: string): JobCell {
    const key = inSpace(spaces.jobs, encodeKey([queue, id]))
    return this.#jobs.pin(key.toString('latin1'), () => key)
  }

  async #read(key: Buffer): Promise<JobRecord | null> {
    const value = await this.#disk.read((store) => store.get(key))
    return value === undefined ? null : decodeJob(key, value)
  }
}

const nothing = Buffer.alloc(0)

const dueKey = (queue: string, at: number, id: string): Buffer =>
  Buffer.concat([under(spaces.due, encodeKey([queue])), encodeNumber(at), encodeKey([id])])
