import type { Config } from '../config/config.ts'
import type { RecordedChange } from '../directory/tenants/bootstrap.ts'
import type { AuditLog } from './log.ts'

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
