import { AuditLog } from './log.ts'
import { RejectionCounter } from './rejections.ts'
import { type AuditOptions, AuditRetention } from './retention.ts'

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
