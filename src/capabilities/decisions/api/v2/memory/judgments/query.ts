import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { pageSizeUpTo } from '../../../../../../rest/paging/page-request.ts'
import { memoryLimits } from '../../../../limits.ts'
import {
  checkJudgmentQuery,
  decision,
  judgmentAnswer,
  judgmentQuery,
  judgmentRecords,
  place,
  reviewerId,
} from '../../../judgment-schema.ts'

export const queryJudgments = defineOperation({
  path: '/v2/memory/judgments/query',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Find judgments',
  description:
    'Judgments that match all filters, the newest first. With `query`, the judgments that a suggestion for it would use, ' +
    'the most relevant first. Judgments of an organization include the judgments of its documents.',
  request: json.object(
    {},
    {
      query: { ...judgmentQuery, description: 'Only judgments of similar cases.' },
      decision,
      reviewerId,
      ...place,
      limit: pageSizeUpTo(memoryLimits.listed, memoryLimits.listed),
    },
  ),
  response: judgmentRecords,
  async handler(data, { caller, services }) {
    checkJudgmentQuery(data)
    const { limit = memoryLimits.listed, ...query } = data
    const found = await services.memory.query(caller.tenant, {
      ...query,
      limit: Math.min(limit, memoryLimits.listed),
    })
    return { message: `${found.length} judgments found.`, data: found.map(judgmentAnswer) }
  },
})
