import { json } from '../../../core/base/schema.ts'
import { activityIds, activityReferences } from '../../schemas/activity-schema.ts'
import { defineBatchOperation } from '../../schemas/batch-results.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'
import { invalidAt } from '../../validator.ts'

export const deleteActivities = defineBatchOperation({
  path: '/v2/activities/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete activities',
  description:
    'Deletes activities of the document, named by `activityIds`, by `activities`, or by both. An activity that the document ' +
    'does not have is `success: false`.',
  items: { activityIds: null, activities: 'id' },
  done: 'activities deleted',
  request: json.object(documentPlace, {
    activityIds: { ...activityIds, examples: [['signed-off']] },
    activities: activityReferences,
  }),
  errors: documentErrors,
  async handler({ organizationId, documentId, activityIds, activities }, { caller, services }) {
    const ids = [...(activityIds ?? []), ...(activities ?? []).map(({ id }) => id)]
    if (activityIds === undefined && activities === undefined)
      throw invalidAt({ path: '/data/activityIds', message: 'is required, or activities is' })
    const scope = { ...caller.tenant, organizationId }
    return services.activities.remove(scope, documentId, ids)
  },
})
