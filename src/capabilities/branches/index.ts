import { defineCapability } from '../../rest/capability.ts'
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
  create: (services) => ({ branches: new BranchService(services) }),
})
