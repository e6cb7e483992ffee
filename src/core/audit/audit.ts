import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { RecordedChange } from '../directory/tenants/bootstrap.ts'
import type { TenantStore } from '../directory/tenants/tenant-store.ts'
import { PeriodicTask } from '../jobs/periodic-task.ts'
import type { Key, Kv } from '../store/engine.ts'
import { recordIn } from './listing.ts'
import { AuditLog } from './log.ts'
import { type AuditScope, auditKeys, auditPart } from './record.ts'
import { RejectionCounter } from './rejections.ts'

export interface Audit {
  readonly audit: AuditLog
  /** Counts rejections. Flush it before the engine closes. */
  readonly refusals: RejectionCounter
  /** Deletes old records. Start it with the server. Stop it before the engine closes. */
  readonly sweep: AuditRetention
}

/** Creates the audit log of a server, its counter of rejections and its retention. */
export function createAudit(options: AuditOptions): Audit {
  const { kv, tenants, clock, log } = options
  const audit = new AuditLog(kv, clock, log)
  const refusals = new RejectionCounter(audit, tenants, clock, log)
  return { audit, refusals, sweep: new AuditRetention(options) }
}

/**
 * Records that the server starts. Returns a function that makes a change during the start and records it: as
 * `start.` followed by the name of the change, in the log of the workspace that is changed.
 */
export async function startAuditing(audit: AuditLog, mode: Config['audit']): Promise<RecordedChange> {
  if (mode === 'off') return (_, work) => work()
  await audit.add(null, [{ operation: 'start', actor: 'operator' }])
  return ({ is, workspaceId, apiKey }, work) => {
    const ids = { workspaceId: [workspaceId], ...(apiKey !== null && { apiKey: [apiKey] }) }
    return audit.carryOut(workspaceId, { operation: `start.${is}`, actor: 'operator', ids }, work)
  }
}

const sweepMs = 3_600_000
/**
 * Time in ms between the start of the server and the first sweep, so that the sweep does not slow down the
 * start.
 */
const firstSweepMs = 60_000
/** Maximum number of records that one commit deletes. */
const sliceSize = 250

interface AuditOptions {
  readonly kv: Kv
  readonly tenants: TenantStore
  readonly clock: Clock
  readonly log: Log
  /** Time in ms for which records are kept. */
  readonly keepMs: number
}

/**
 * Deletes records that are older than the retention: a minute after the start, and then once an hour. Each
 * commit deletes a limited number of records.
 */
export class AuditRetention {
  readonly #options: AuditOptions
  readonly task: PeriodicTask

  constructor(options: AuditOptions) {
    this.#options = options
    const { clock, log } = options
    this.task = new PeriodicTask(
      {
        clock,
        log,
        firstMs: firstSweepMs,
        everyMs: sweepMs,
        failure: 'could not sweep the audit log; retrying',
      },
      () => this.run(),
    )
  }

  /** Deletes the old records of all logs, once. @throws StoreUnavailableError */
  async run(): Promise<void> {
    const { tenants, clock, keepMs } = this.#options
    const until = clock.now() - keepMs
    await this.#sweep(null, until)
    for await (const id of tenants.workspaceIds()) {
      if (this.task.isStopped) return
      await this.#sweep(id, until)
    }
  }

  async #sweep(place: AuditScope, until: number): Promise<void> {
    let last = await this.#sweepSome(place, until)
    while (last !== null && !this.task.isStopped) {
      await nextTurn()
      last = await this.#sweepSome(place, until, last)
    }
  }

  /**
   * Deletes one slice of old records, after the key `last`. Without `last`, each scan would first read all
   * entries that are already deleted. Returns the last deleted key; null if no further records are too old.
   */
  async #sweepSome(place: AuditScope, until: number, last?: Key): Promise<Key | null> {
    const { kv } = this.#options
    const part = auditPart(place)
    const entries = await kv.scan(part, {
      prefix: auditKeys.records,
      limit: sliceSize,
      ...(last !== undefined && { after: last }),
    })
    const old = entries.filter((entry) => recordIn(entry).at <= until).map(({ key }) => key)
    if (old.length > 0) await kv.commit(part, { dels: old })
    return old.length === sliceSize ? (old.at(-1) ?? null) : null
  }
}
