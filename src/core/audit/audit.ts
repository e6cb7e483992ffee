import type { Config } from '../config/config.ts'
import type { RecordedChange } from '../directory/tenants/bootstrap.ts'
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
