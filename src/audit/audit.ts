import type { Clock } from '../clock.ts'
import type { Tenants } from '../directory/tenants.ts'
import type { Kv } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { AuditLog } from './log.ts'
import { Refusals } from './refusals.ts'
import { Sweep } from './sweep.ts'

export interface Audit {
  readonly audit: AuditLog
  /** To be flushed before the engine is closed. */
  readonly refusals: Refusals
  /** To be started, and stopped before the engine is closed. */
  readonly sweep: Sweep
}

interface AuditParts {
  readonly kv: Kv
  readonly tenants: Tenants
  readonly clock: Clock
  readonly log: Log
  readonly keepMs: number
}

/** The audit log of a server. */
export function createAudit(parts: AuditParts): Audit {
  const audit = new AuditLog(parts)
  return { audit, refusals: new Refusals({ ...parts, audit }), sweep: new Sweep(parts) }
}
