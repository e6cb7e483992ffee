import { activityChanges, noDocument, ofDocument } from '../../activity-schema.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'

export const updateActivities = operation({
  path: '/v2/activities/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change activities',
  description:
    'Changes what is given of activities of the document; what is left out stays, and so does their time. One that the ' +
    'document does not have is not made (`success: false`).',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'activities'],
    properties: { ...ofDocument, activities: activityChanges },
  },
  response: keyedResults,
  errors: [noDocument],
  async handler({ organizationId, documentId, activities }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId }
    const results = await services.activities.update(scope, documentId, activities)
    return { message: `${countOf(results)} activities updated.`, data: results }
  },
})
