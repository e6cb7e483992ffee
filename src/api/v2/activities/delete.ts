import { activityIds, activityReferences, noDocument, ofDocument } from '../../activity-schema.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { invalidAt } from '../../validator.ts'

export const deleteActivities = operation({
  path: '/v2/activities/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete activities',
  description:
    'Deletes activities of the document, named by `activityIds`, by `activities`, or by both. One that the document ' +
    'does not have is `success: false`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId'],
    properties: {
      ...ofDocument,
      activityIds: { ...activityIds, examples: [['signed-off']] },
      activities: activityReferences,
    },
  },
  response: keyedResults,
  errors: [noDocument],
  async handler({ organizationId, documentId, activityIds = [], activities = [] }, { caller, services }) {
    const ids = [...activityIds, ...activities.map(({ id }) => id)]
    if (ids.length === 0)
      throw invalidAt({ path: '/data/activityIds', message: 'is required, or activities is' })
    const scope = { ...caller.tenant, organizationId }
    const results = await services.activities.remove(scope, documentId, ids)
    return { message: `${countOf(results)} activities deleted.`, data: results }
  },
})
