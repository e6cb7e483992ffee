import { memoryLimits } from '../../../decisions/limits.ts'
import { defineBareOperation } from '../../operation.ts'
import { checkJudgmentQuery, judgmentQuery, place, suggested } from '../../schemas/judgment-schema.ts'

export const suggestDecision = defineBareOperation({
  path: '/v2/memory/suggest',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Suggest a decision',
  description:
    'Suggests whether to approve or reject something, from recorded judgments of similar things. No model is asked: the ' +
    'same judgments always give the same answer. Precedents are judgments that share words with `query` and are at least ' +
    '0.3 times as relevant (BM25+, times the number of words shared) as the most relevant one; the weight of each is ' +
    'that ratio. Common English words are left out; so are, in a large memory, the most common ones, and of a single ' +
    `one all but the newest ${memoryLimits.matches} judgments. ` +
    'They come from the narrowest scope in which one decision has at least 2: the document, the organization, ' +
    'all of the API key. The decision with more weight is `primary`, unless it has fewer than 2; of equal ones that with ' +
    'more precedents, then that with the newest. The other one is `conflict` when both have at least 2. The answer has ' +
    'neither `status` nor `message`.',
  request: {
    type: 'object',
    required: ['query'],
    properties: {
      query: { ...judgmentQuery, description: 'What is to be judged, in words.' },
      ...place,
    },
  },
  response: suggested,
  errors: [],
  async handler(data, { caller, services }) {
    checkJudgmentQuery(data)
    return services.memory.suggest(caller.tenant, data.query, data)
  },
})
