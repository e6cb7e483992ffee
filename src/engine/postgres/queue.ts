import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { ClaimedJob, Queue } from '../engine.ts'
import type { Gate } from '../gate.ts'
import {
  claimed,
  ended,
  extended,
  holds,
  type JobRecord,
  type Lease,
  leased,
  leaseOf,
  retried,
} from '../jobs.ts'
import type { Database } from './database.ts'
import { bury, JobRows } from './job-rows.ts'
import type { Write } from './transaction.ts'

/** What is left of a job whose lease somebody holds. */
type Change = (record: JobRecord, now: number, lease: Lease, write: Write) => JobRecord | null

export class PostgresQueue implements Queue {
  readonly #gate: Gate
  readonly #database: Database
  readonly #clock: Clock

  constructor({ gate, database, clock }: { gate: Gate; database: Database; clock: Clock }) {
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
          const found = jobs.ids.map((id) => {
            const record = leased(jobs.get(queue, id) as JobRecord, until, randomUUID())
            jobs.set(queue, id, record)
            return claimed(queue, id, record)
          })
          jobs.write(write)
          return found
        },
      }),
    )
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
    return this.#change(token, (record, now, lease, write) => {
      bury(lease, retried(record, now, error), write)
      return ended(record)
    })
  }

  #change(token: string, change: Change): Promise<boolean> {
    return this.#gate.run(async () => {
      const lease = leaseOf(token)
      if (lease === null) return false
      const { queue, id } = lease
      return this.#database.write({
        ask: (session) => JobRows.lock(session, [lease]),
        act: (jobs, write) => {
          const [record, now] = [jobs.get(queue, id), this.#clock.now()]
          if (!holds(record, lease.lease, now)) return false
          jobs.set(queue, id, change(record, now, lease, write))
          jobs.write(write)
          return true
        },
      })
    })
  }
}
