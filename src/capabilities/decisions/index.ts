import type { UserDataScope, UserDataSource } from '../../core/directory/user-data/user-data-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { DecisionMemory } from './decision-memory.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly memory: DecisionMemory
  }
}

/** Judgments about suggestions, and suggestions from them. */
export const decisions = defineCapability({
  name: 'decisions',
  create: ({ engine, store, clock }) => ({ memory: new DecisionMemory(engine.kv, store, clock) }),
  cascade: ({ memory }) => [{ removeOrganization: (scope, goOn) => memory.forget(scope, goOn) }],
  userData: ({ memory }) => ({ ofTenant: [judgmentSource(memory)] }),
})

/**
 * Returns the source of the judgments of a user. An erasure removes the user from each judgment. The judgment
 * itself remains as a precedent.
 */
const judgmentSource = (memory: DecisionMemory): UserDataSource<UserDataScope> => ({
  name: 'judgments',
  async list({ organizationId, ...tenant }, reviewerId, range) {
    const { items, next } = await memory.judgmentsOf(tenant, { reviewerId, organizationId }, range)
    return {
      items: items.map(({ organizationId, documentId, ...data }) => ({
        kind: 'judgment',
        organizationId,
        documentId,
        data,
      })),
      next,
    }
  },
  erase: ({ organizationId, ...tenant }, reviewerId) =>
    memory.forgetReviewer(tenant, { reviewerId, organizationId }),
})
