import { memoryLimits } from '../../../../memory/limits.ts'
import {
  addedJudgment,
  checkQuestion,
  decision,
  judgedAt,
  judgmentQuery,
  noPlace,
  place,
  reason,
  reviewerId,
} from '../../../memory-schema.ts'
import { operation } from '../../../operation.ts'

export const addJudgment = operation({
  path: '/v2/memory/judgments/add',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'Record a judgment',
  description:
    'Remembers what somebody decided, as a precedent for `/v2/memory/suggest`. Judgments of an organization go with ' +
    `it; those of a document stay without it. An API key keeps ${memoryLimits.judgments} judgments, with ` +
    `${memoryLimits.characters} characters; beyond that, those judged longest ago are forgotten.`,
  request: {
    type: 'object',
    required: ['query', 'decision', 'reviewerId'],
    properties: { query: judgmentQuery, decision, reason, reviewerId, ...place, judgedAt },
  },
  response: addedJudgment,
  errors: [noPlace],
  async handler(data, { caller, services }) {
    checkQuestion(data)
    const judgmentId = await services.memory.add(caller.tenant, data)
    return { message: 'Judgment added.', data: { judgmentId } }
  },
})
