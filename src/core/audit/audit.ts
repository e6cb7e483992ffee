import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { TenantStore } from '../directory/tenants/tenant-store.ts'
import type { Kv } from '../store/engine.ts'
import { AuditLog } from './log.ts'
import { RejectionCounter } from './rejections.ts'
import { AuditRetention } from './retention.ts'

export interface Audit {
  readonly audit: AuditLog
  /** Counts rejections. Flush it before the engine closes. */
  readonly refusals: RejectionCounter
  /** Deletes old records. Start it with the server. Stop it before the engine closes. */
  readonly sweep: AuditRetention
}

interface AuditOptions {
  readonly kv: Kv
  readonly tenants: TenantStore
  readonly clock: Clock
  readonly log: Log
  readonly keepMs: number
}

/** Creates the audit log of a server, its counter of rejections and its retention. */
export function createAudit(options: AuditOptions): Audit {
  const audit = new AuditLog(options)
  return { audit, refusals: new RejectionCounter({ ...options, audit }), sweep: new AuditRetention(options) }
}
