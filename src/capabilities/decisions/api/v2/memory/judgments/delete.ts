import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../../rest/schemas/batch-results.ts'
import { judgmentIds } from '../../../judgment-schema.ts'

export const deleteJudgments = defineOperation({
  path: '/v2/memory/judgments/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete judgments',
  description: 'Deletes judgments; suggestions no longer use them.',
  batch: keyedBatch({ judgmentIds: null }),
  request: json.object({ judgmentIds }),
  response: batchResults,
  errors: [],
  async handler(data, { caller, services }) {
    const results = await services.memory.delete(caller.tenant, data.judgmentIds)
    return { message: `${countSucceeded(results)} judgments deleted.`, data: results }
  },
})
