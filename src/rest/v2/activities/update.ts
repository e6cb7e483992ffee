import { json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'
import { activityChanges } from '../../schemas/activity-schema.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../schemas/batch-results.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'

export const updateActivities = defineOperation({
  path: '/v2/activities/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change activities',
  description:
    'Changes the given members of activities of the document; omitted members and the time stay. An unknown activity ' +
    'is not created (`success: false`).',
  batch: keyedBatch({ activities: 'id' }),
  request: json.object({
    ...documentPlace,
    activities: activityChanges,
  }),
  response: batchResults,
  errors: documentErrors,
  async handler({ organizationId, documentId, activities }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const results = await services.activities.update(scope, documentId, activities)
    return { message: `${countSucceeded(results)} activities updated.`, data: results }
  },
})
