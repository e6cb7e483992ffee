import { activitiesToAdd, noDocument, ofDocument } from '../../activity-schema.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { invalidAt } from '../../validator.ts'

export const addActivities = operation({
  path: '/v2/activities/add',
  auth: 'key',
  effect: 'adds',
  audited: 'change',
  summary: 'Add activities',
  description:
    'Adds activities of a document, as of now. An id that there is already is overwritten: it keeps its time, and all ' +
    'else is as it is given now. Those of the types `huddle.create`, `huddle.join` and `recorder.done` are events, too, ' +
    'each once.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'activities'],
    properties: { ...ofDocument, activities: activitiesToAdd },
  },
  response: keyedResults,
  errors: [noDocument],
  async handler({ organizationId, documentId, activities }, { caller, services, ids }) {
    const untargeted = activities.findIndex(
      ({ featureType, targetEntityId }) => featureType === 'custom' && targetEntityId === undefined,
    )
    if (untargeted !== -1) {
      const path = `/data/activities/${untargeted}/targetEntityId`
      throw invalidAt({ path, message: 'is required of a custom activity' })
    }
    const scope = { ...caller.tenant, organizationId }
    const named = activities.map((activity) => ({ ...activity, id: activity.id ?? ids.make() }))
    const results = await services.activities.add(scope, documentId, named)
    return { message: `${countOf(results)} activities added.`, data: results }
  },
})
