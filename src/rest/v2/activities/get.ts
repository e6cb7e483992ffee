import { type FromSchema, json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'
import { pageRequest, readPage } from '../../paging/page-request.ts'
import {
  actionType,
  activityIds,
  activityRecords,
  featureType,
  toActivityResponse,
} from '../../schemas/activity-schema.ts'
import { organizationId, organizationNotFound } from '../../schemas/resource-schema.ts'

/** Maximum number of values in one filter. */
const valuesMax = 30

const request = json.object(
  { organizationId },
  {
    documentId: json.id('Only activities of this document.'),
    targetEntityId: json.id('Only activities on this target, such as an annotation.'),
    featureTypes: json.list(featureType, { maxItems: valuesMax }),
    actionTypes: json.list(actionType, { maxItems: valuesMax }),
    userId: json.id('Only activities of this acting user.'),
    activityIds: { ...activityIds, description: 'Only these.' },
    order: json.choice(['asc', 'desc'], 'By timestamp.', { default: 'desc' }),
    ...pageRequest,
  },
)

export const getActivities = defineOperation({
  path: '/v2/activities/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List activities',
  description:
    'Lists activities that match all filters, by time. An activity that exists from the first page to the last is ' +
    'returned exactly once. A page may have fewer items than requested, or no items, if filters are narrow or ' +
    'activities are large: continue until there is no `pageToken`.',
  request,
  response: activityRecords,
  errors: [organizationNotFound],
  async handler({ pageSize, pageToken, ...query }, context) {
    const { caller, services } = context
    const { organizationId, order = 'desc', activityIds } = query
    const scope = { ...caller.tenant, organizationId }
    const { found, token } = await readPage(
      context,
      ['activities', ...filtersOf(query)],
      { pageSize, pageToken },
      (range) => {
        const listing = { ...range, order }
        return activityIds === undefined
          ? services.activities.list(scope, query, listing)
          : services.activities.find(scope, activityIds, query, listing)
      },
    )
    const data = found.items.map((activity) => toActivityResponse(caller, organizationId, activity))
    return { message: `${data.length} activities found.`, data, ...token }
  },
})

/** Returns all parameters that decide the content of the listing. */
const filtersOf = (query: FromSchema<typeof request>): readonly unknown[] => [
  query.organizationId,
  query.order ?? 'desc',
  query.documentId ?? null,
  query.targetEntityId ?? null,
  query.userId ?? null,
  query.featureTypes ?? null,
  query.actionTypes ?? null,
  query.activityIds ?? null,
]
