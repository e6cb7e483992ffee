import type { Kv } from '../../store/engine.ts'
import { workspaceKeys, workspacesPart } from './workspace-keys.ts'

/** Maximum number of workspaces by which a store is recognized. */
export const identifyingWorkspacesMax = 1_000
const recordsAtOnce = 200

/** Returns the ids of the first workspaces of a store, sorted. @throws StoreUnavailableError */
export async function listWorkspaceIds(kv: Pick<Kv, 'scan'>): Promise<readonly string[]> {
  const ids = new Set<string>()
  let last: string | undefined
  for (;;) {
    const found = await kv.scan(workspacesPart, {
      prefix: workspaceKeys.workspaces,
      // Greater than the keys of all records of the workspace.
      ...(last !== undefined && { after: [...workspaceKeys.workspace(last), '~'] }),
      limit: recordsAtOnce,
    })
    for (const { key } of found) {
      last = key[1] as string
      if (key.length === 2 && ids.size < identifyingWorkspacesMax) ids.add(last)
    }
    if (found.length < recordsAtOnce || ids.size >= identifyingWorkspacesMax) return [...ids]
  }
}
