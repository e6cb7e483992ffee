import { type FromSchema, json } from '../../../core/base/schema.ts'
import { activitiesToAdd } from '../../schemas/activity-schema.ts'
import { defineBatchOperation } from '../../schemas/batch-results.ts'
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

export const addActivities = defineBatchOperation({
  path: '/v2/activities/add',
  effect: 'adds',
  audited: 'change',
  grows: 'records',
  summary: 'Add activities',
  description:
    'Adds activities of a document, with the current time. An activity with an existing id is replaced, but keeps its ' +
    'time. Activities of the types `huddle.create`, `huddle.join` and `recorder.done` also cause an event, once each.',
  items: { activities: 'id' },
  check: checkActivity,
  done: 'activities added',
  request: json.object({
    ...documentPlace,
    activities: activitiesToAdd,
  }),
  errors: documentErrors,
  async handler({ organizationId, documentId, activities }, { caller, services, ids }) {
    const scope = { ...caller.tenant, organizationId }
    const named = activities.map((activity) => ({ ...activity, id: activity.id ?? ids.make() }))
    return services.activities.add(scope, documentId, named)
  },
})
