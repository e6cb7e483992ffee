import type { BranchStatus } from '../../../src/directory/branches/branch-records.ts'
import { writeBranch } from '../../../src/directory/branches/branch-writing.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { branchEditorId } from '../../../src/model/branch-address.ts'
import { dataOf, type TestServer } from '../servers/server.ts'
import { directoryOn, scopeOf } from './directory.ts'

export interface StoredBranch {
  readonly documentId: string
  readonly name: string
  readonly createdBy: string
  readonly status?: BranchStatus
}

/** Writes the record of a branch of the editor `main` of the organization `acme`. */
export async function storeBranch(
  engine: Engine,
  { credentials: { workspaceId, apiKey } }: TestServer,
  { documentId, name, createdBy, status = 'open' }: StoredBranch,
): Promise<void> {
  const ids = { editorId: 'main', name }
  const more = { createdAt: Date.now(), baseVersion: '', decidedBy: '', decidedAt: null }
  await directoryOn(engine).store.carryOut(scopeOf({ workspaceId, apiKey }, 'acme'), (transaction) =>
    writeBranch(transaction, { documentId, ...ids }, { ...ids, ...more, createdBy, status }),
  )
}

/** Creates a branch with the text `kept`. */
export async function createBranch(engine: Engine, server: TestServer, branch: StoredBranch): Promise<void> {
  await storeBranch(engine, server, branch)
  const editorId = branchEditorId({ editorId: 'main', name: branch.name })
  const content = {
    organizationId: 'acme',
    documentId: branch.documentId,
    editorId,
    type: 'text',
    data: 'kept',
  }
  dataOf(await server.post('/v2/crdt/add', content))
}
