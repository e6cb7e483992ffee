import { json } from '../../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../../rest/schemas/batch-results.ts'
import { judgmentIds } from '../../../judgment-schema.ts'

export const deleteJudgments = defineBatchOperation({
  path: '/v2/memory/judgments/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete judgments',
  description: 'Deletes judgments; suggestions no longer use them.',
  items: { judgmentIds: null },
  done: 'judgments deleted',
  request: json.object({ judgmentIds }),
  handler: (data, { caller, services }) => services.memory.delete(caller.tenant, data.judgmentIds),
})
