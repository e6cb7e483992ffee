import type { Clock } from '../clock.ts'
import type { TenantStore } from '../directory/tenants/tenant-store.ts'
import type { Kv } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { AuditLog } from './log.ts'
import { RejectionCounter } from './rejections.ts'
import { AuditRetention } from './retention.ts'

export interface Audit {
  readonly audit: AuditLog
  /** To be flushed before the engine is closed. */
  readonly refusals: RejectionCounter
  /** To be started, and stopped before the engine is closed. */
  readonly sweep: AuditRetention
}

interface AuditOptions {
  readonly kv: Kv
  readonly tenants: TenantStore
  readonly clock: Clock
  readonly log: Log
  readonly keepMs: number
}

/** The audit log of a server. */
export function createAudit(parts: AuditOptions): Audit {
  const audit = new AuditLog(parts)
  return { audit, refusals: new RejectionCounter({ ...parts, audit }), sweep: new AuditRetention(parts) }
}
