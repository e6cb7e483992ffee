import type { UserDataScope, UserDataSource } from '../../core/directory/user-data/user-data-source.ts'
import type { DecisionMemory } from './decision-memory.ts'

/**
 * Returns the source of the judgments of a user. An erasure removes the user from each judgment. The judgment
 * itself remains as a precedent.
 */
export const judgmentSource = (memory: DecisionMemory): UserDataSource<UserDataScope> => ({
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
