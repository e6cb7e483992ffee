import { setImmediate as nextTick } from 'node:timers/promises'
import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { TenantStore } from '../../core/directory/tenants/tenant-store.ts'
import { PeriodicTask } from '../../core/jobs/periodic-task.ts'
import type { Key, Kv } from '../../core/store/engine.ts'
import { encodeRecord, readRecord } from '../../core/store/stored-record.ts'
import { startOf, storedUsage, UsageBucket, type UsageReader } from './usage-reader.ts'
import { dayKey, msPerDay, type UsageSubject, usagePart, usageRecordType } from './usage-records.ts'

/** Number of days for which usage by hour is kept. */
export const hoursKeptDays = 90
/** Number of days for which usage by day is kept. */
export const daysKeptDays = 730
const sweepMs = 12 * 3_600_000
/** Time in ms between the start of the server and the first sweep. */
const firstSweepMs = 300_000
/** Maximum number of records that one commit deletes. */
const recordsPerCommit = 500

/**
 * Adds old records of hours to records of days, and deletes old records of days. A commit moves the records of
 * one day, or none of them, so that a crash or another node never makes a record count twice.
 */
export class UsageRetention {
  readonly #kv: Kv
  readonly #reader: UsageReader
  readonly #tenants: Pick<TenantStore, 'workspaceIds'>
  readonly #clock: Clock
  readonly task: PeriodicTask

  constructor(
    kv: Kv,
    reader: UsageReader,
    tenants: Pick<TenantStore, 'workspaceIds'>,
    clock: Clock,
    log: Log,
  ) {
    this.#kv = kv
    this.#reader = reader
    this.#tenants = tenants
    this.#clock = clock
    this.task = new PeriodicTask(
      { clock, log, firstMs: firstSweepMs, everyMs: sweepMs, failure: 'could not sweep the usage; retrying' },
      () => this.run(),
    )
  }

  /** Sweeps the records of all workspaces once. @throws StoreUnavailableError */
  async run(): Promise<void> {
    for await (const id of this.#tenants.workspaceIds())
      for await (const subject of this.#reader.subjects(id)) {
        if (this.task.isStopped) return
        await nextTick()
        await this.#sweepHours(usagePart(id), subject)
        await this.#sweepDays(usagePart(id), subject)
      }
  }

  async #sweepHours(part: Key, subject: UsageSubject): Promise<void> {
    const to = startOf('day', this.#clock.now() - hoursKeptDays * msPerDay)
    for (;;) {
      const oldest = await storedUsage(this.#kv, part, 'hours', subject, { from: 0, to }).next()
      if (this.task.isStopped || oldest.done === true) return
      if (!(await this.#moveDay(part, subject, startOf('day', oldest.value.at)))) return
    }
  }

  /** Moves hours of a day to the record of the day. Returns false if another node has done it. */
  async #moveDay(part: Key, subject: UsageSubject, day: number): Promise<boolean> {
    const key = dayKey(subject, day)
    // The record of the day must be read first: the check of the commit then covers the hours too.
    const [value = null] = await this.#kv.get(part, [key])
    const bucket = new UsageBucket(day)
    if (value !== null) bucket.add('days', day, readRecord(usageRecordType, { key, value }))
    const dels: Key[] = []
    for await (const each of storedUsage(this.#kv, part, 'hours', subject, {
      from: day,
      to: day + msPerDay,
    })) {
      bucket.add('hours', each.at, each.record)
      dels.push(each.key)
      if (dels.length === recordsPerCommit) break
    }
    const { opened, peak, openMs, updates, bytesSent, calls, stored } = bucket
    const counts = { node: '', opened, peak, openMs, updates, bytesSent, calls, ...(stored && { stored }) }
    return this.#kv.commit(part, {
      checks: [{ key, value }],
      puts: [{ key, value: encodeRecord(counts) }],
      dels,
    })
  }

  async #sweepDays(part: Key, subject: UsageSubject): Promise<void> {
    const to = startOf('day', this.#clock.now() - daysKeptDays * msPerDay)
    const dels: Key[] = []
    for await (const { key } of storedUsage(this.#kv, part, 'days', subject, { from: 0, to })) {
      dels.push(key)
      if (dels.length === recordsPerCommit) break
    }
    if (dels.length > 0) await this.#kv.commit(part, { dels })
  }
}
