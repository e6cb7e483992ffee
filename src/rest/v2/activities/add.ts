import { type FromSchema, json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'
import { activitiesToAdd } from '../../schemas/activity-schema.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../schemas/batch-results.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'
import { invalidAt } from '../../validator.ts'

/**
 * Checks an activity.
 * @throws ApiError INVALID_ARGUMENT for a custom activity without a target
 */
function checkActivity(
  { featureType, targetEntityId }: FromSchema<typeof activitiesToAdd>[number],
  at: string,
) {
  if (featureType !== 'custom' || targetEntityId !== undefined) return
  throw invalidAt({ path: `${at}/targetEntityId`, message: 'is required of a custom activity' })
}

export const addActivities = defineOperation({
  path: '/v2/activities/add',
  auth: 'key',
  effect: 'adds',
  audited: 'change',
  grows: 'records',
  summary: 'Add activities',
  description:
    'Adds activities of a document, with the current time. An activity with an existing id is replaced, but keeps its ' +
    'time. Activities of the types `huddle.create`, `huddle.join` and `recorder.done` also cause an event, once each.',
  batch: keyedBatch({ activities: 'id' }, checkActivity),
  request: json.object({
    ...documentPlace,
    activities: activitiesToAdd,
  }),
  response: batchResults,
  errors: documentErrors,
  async handler({ organizationId, documentId, activities }, { caller, services, ids }) {
    const scope = { ...caller.tenant, organizationId }
    const named = activities.map((activity) => ({ ...activity, id: activity.id ?? ids.make() }))
    const results = await services.activities.add(scope, documentId, named)
    return { message: `${countSucceeded(results)} activities added.`, data: results }
  },
})
