import type { Config } from '../config.ts'
import type { BootstrapChange } from '../directory/bootstrap.ts'
import type { AuditLog } from './log.ts'

/**
 * Records that the server starts. Returns what records each change that the start makes in the store: `start.` and what
 * it is, in the log of the workspace that it concerns.
 */
export async function startAuditing(
  audit: AuditLog,
  mode: Config['audit'],
): Promise<(change: BootstrapChange) => Promise<void>> {
  if (mode === 'off') return () => Promise.resolve()
  await audit.add(null, [{ operation: 'start', actor: 'operator' }])
  return ({ is, workspaceId, apiKey }) => {
    const ids = { workspaceId: [workspaceId], ...(apiKey !== null && { apiKey: [apiKey] }) }
    return audit.add(workspaceId, [{ operation: `start.${is}`, actor: 'operator', ids }])
  }
}
