import type { Memory } from '../memory/memory.ts'
import type { TenantPlace, UserTrace } from './trace.ts'

/** What users have judged: theirs are precedents, which stay without the user. */
export const judgmentTrace = (memory: Memory): UserTrace<TenantPlace> => ({
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
