import { memoryLimits } from '../../../../memory/limits.ts'
import {
  checkQuestion,
  decision,
  judgmentAnswer,
  judgmentQuery,
  judgmentRecords,
  place,
  reviewerId,
} from '../../../memory-schema.ts'
import { operation } from '../../../operation.ts'

export const queryJudgments = operation({
  path: '/v2/memory/judgments/query',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Find judgments',
  description:
    'Judgments that fit every filter, the newest first. With `query`, those that a suggestion for it would draw on, the ' +
    'most relevant first. Those of an organization include those of its documents.',
  request: {
    type: 'object',
    properties: {
      query: { ...judgmentQuery, description: 'Only judgments like this.' },
      decision,
      reviewerId,
      ...place,
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: memoryLimits.listed,
        default: memoryLimits.listed,
        description: 'How many to answer at most.',
      },
    },
  },
  response: judgmentRecords,
  errors: [],
  async handler(data, { caller, services }) {
    checkQuestion(data)
    const found = await services.memory.query(caller.tenant, { limit: memoryLimits.listed, ...data })
    return { message: `${found.length} judgments found.`, data: found.map(judgmentAnswer) }
  },
})
