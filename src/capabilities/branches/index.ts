import { defineCapability } from '../../rest/capability.ts'
import { BranchService } from './branch-service.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly branches: BranchService
  }
}

/** Branches of editors, which people and agents merge as edits. */
export const branches = defineCapability({
  name: 'branches',
  create: (services) => ({ branches: new BranchService(services) }),
  cascade: ({ branches }) => [{ canFollow: (...given) => branches.canFollow(...given) }],
})
