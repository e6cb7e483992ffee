import { countOf, keyedResults } from '../../../keyed.ts'
import { judgmentIds } from '../../../memory-schema.ts'
import { operation } from '../../../operation.ts'

export const deleteJudgments = operation({
  path: '/v2/memory/judgments/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete judgments',
  description: 'Forgets judgments: suggestions no longer draw on them.',
  request: { type: 'object', required: ['judgmentIds'], properties: { judgmentIds } },
  response: keyedResults,
  errors: [],
  async handler(data, { caller, services }) {
    const results = await services.memory.delete(caller.tenant, data.judgmentIds)
    return { message: `${countOf(results)} judgments deleted.`, data: results }
  },
})
