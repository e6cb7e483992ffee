import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../core/base/clock.ts'
import type { ClaimedJob, Queue } from '../../../core/store/engine.ts'
import {
  claimJob,
  endJob,
  extendLease,
  holdsLease,
  type JobLease,
  type JobRecord,
  leaseJob,
  parseLeaseToken,
  rescheduleJob,
} from '../../../core/store/job-state.ts'
import type { OpenCalls } from '../../../core/store/open-calls.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import type { Write } from '../connection/sql-transaction.ts'
import { JobRows, moveToDeadLetters } from './job-rows.ts'

/** A function that returns the new record of a job whose lease is valid; null if the job must be removed. */
type JobChange = (record: JobRecord, now: number, lease: JobLease, write: Write) => JobRecord | null

export class PostgresQueue implements Queue {
  readonly #gate: OpenCalls
  readonly #database: PostgresDatabase
  readonly #clock: Clock

  constructor({ gate, database, clock }: { gate: OpenCalls; database: PostgresDatabase; clock: Clock }) {
    this.#gate = gate
    this.#database = database
    this.#clock = clock
  }

  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]> {
    return this.#gate.run(() =>
      this.#database.write({
        ask: (session) => JobRows.lockDue(session, queue, this.#clock.now(), count),
        act: (jobs, write) => {
          const until = this.#clock.now() + leaseMs
          const found = jobs.ids.flatMap((id) => {
            const job = jobs.get(queue, id)
            if (job === null) return []
            const record = leaseJob(job, until, randomUUID())
            jobs.set(queue, id, record)
            return [claimJob(queue, id, record)]
          })
          jobs.write(write)
          return found
        },
      }),
    )
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
    return this.#change(token, (record, now, lease, write) => {
      moveToDeadLetters(lease, rescheduleJob(record, now, error), write)
      return endJob(record)
    })
  }

  #change(token: string, change: JobChange): Promise<boolean> {
    return this.#gate.run(async () => {
      const lease = parseLeaseToken(token)
      if (lease === null) return false
      const { queue, id } = lease
      return this.#database.write({
        ask: (session) => JobRows.lock(session, [lease]),
        act: (jobs, write) => {
          const [record, now] = [jobs.get(queue, id), this.#clock.now()]
          if (!holdsLease(record, lease.lease, now)) return false
          jobs.set(queue, id, change(record, now, lease, write))
          jobs.write(write)
          return true
        },
      })
    })
  }
}
