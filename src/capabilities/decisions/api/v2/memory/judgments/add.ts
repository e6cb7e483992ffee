import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { documentErrors } from '../../../../../../rest/schemas/resource-schema.ts'
import { memoryLimits } from '../../../../limits.ts'
import {
  addedJudgment,
  checkJudgmentQuery,
  decision,
  judgedAt,
  judgmentQuery,
  place,
  reason,
  reviewerId,
} from '../../../judgment-schema.ts'

export const addJudgment = defineOperation({
  path: '/v2/memory/judgments/add',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  grows: 'records',
  summary: 'Record a judgment',
  description:
    'Stores the decision of a reviewer as a precedent for `/v2/memory/suggest`. Judgments of an organization are ' +
    'deleted with it; judgments of a document stay after its deletion. An API key has at most ' +
    `${memoryLimits.judgments} judgments with ${memoryLimits.characters} characters; beyond that, the server deletes ` +
    'the oldest judgments.',
  request: json.object({ query: judgmentQuery, decision, reviewerId }, { reason, ...place, judgedAt }),
  response: addedJudgment,
  errors: documentErrors,
  async handler(data, { caller, services }) {
    checkJudgmentQuery(data)
    const judgmentId = await services.memory.add(caller.tenant, data)
    return { message: 'Judgment added.', data: { judgmentId } }
  },
})
