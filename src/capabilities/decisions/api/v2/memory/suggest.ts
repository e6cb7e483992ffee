import { json } from '../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { memoryLimits } from '../../../limits.ts'
import { checkJudgmentQuery, judgmentQuery, place, suggested } from '../../judgment-schema.ts'

export const suggestDecision = defineOperation({
  path: '/v2/memory/suggest',
  auth: 'key',
  bare: true,
  effect: 'reads',
  audited: 'read',
  summary: 'Suggest a decision',
  description:
    'Suggests to approve or reject a case, from recorded judgments of similar cases. It uses no language model: the same ' +
    'judgments always give the same response. Precedents are judgments that share words with `query` and are at least ' +
    '0.3 times as relevant (BM25+, times the number of shared words) as the most relevant one; the weight of each is ' +
    'that ratio. The search ignores common English words and, among many judgments, the most common words; for a single ' +
    `common word it uses only the newest ${memoryLimits.matches} judgments. ` +
    'Precedents belong to the narrowest scope in which one decision has at least 2: the document, the organization, ' +
    'the whole API key. The decision with more weight is `primary`, unless it has fewer than 2 judgments. With equal ' +
    'weights, the number of precedents decides, then the newest precedent. The other decision is `conflict` if both have ' +
    'at least 2. The response has neither `status` nor `message`.',
  request: json.object(
    {
      query: {
        ...judgmentQuery,
        maxLength: memoryLimits.caseCharacters,
        description: 'Description of the case to judge.',
      },
    },
    { ...place },
  ),
  response: suggested,
  async handler(data, { caller, services }) {
    checkJudgmentQuery(data)
    return { message: '', data: await services.memory.suggest(caller.tenant, data.query, data) }
  },
})
