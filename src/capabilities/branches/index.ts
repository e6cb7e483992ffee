import { defineCapability } from '../../rest/capability.ts'
import { createBranch } from './api/v2/crdt/branches/create.ts'
import { deleteBranch } from './api/v2/crdt/branches/delete.ts'
import { diffBranch } from './api/v2/crdt/branches/diff.ts'
import { getBranch } from './api/v2/crdt/branches/get.ts'
import { listBranches } from './api/v2/crdt/branches/list.ts'
import { mergeBranch } from './api/v2/crdt/branches/merge.ts'
import { rejectBranch } from './api/v2/crdt/branches/reject.ts'
import { BranchService } from './branch-service.ts'

interface Added {
  readonly branches: BranchService
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Branches of editors, which people and agents merge as edits. */
export const branches = defineCapability({
  name: 'branches',
  operations: [createBranch, listBranches, getBranch, diffBranch, mergeBranch, rejectBranch, deleteBranch],
  create: (services) => ({ branches: new BranchService(services) }),
})
