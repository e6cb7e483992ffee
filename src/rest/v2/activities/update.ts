import { json } from '../../../core/base/schema.ts'
import { activityChanges } from '../../schemas/activity-schema.ts'
import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'

export const updateActivities = defineBatchOperation({
  path: '/v2/activities/update',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change activities',
  description:
    'Changes the given members of activities of the document; omitted members and the time stay. An unknown activity ' +
    'is not created (`success: false`).',
  items: { activities: 'id' },
  done: 'activities updated',
  request: json.object({
    ...documentPlace,
    activities: activityChanges,
  }),
  errors: documentErrors,
  async handler({ organizationId, documentId, activities }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    return services.activities.update(scope, documentId, activities)
  },
})
