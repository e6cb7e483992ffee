import { json } from '../../../../../core/base/schema.ts'
import { withVisibleUsers } from '../../../../../rest/agents/authorize-agent.ts'
import { defineAgentOperation } from '../../../../../rest/operation.ts'
import { pageRequest, readPage } from '../../../../../rest/paging/page-request.ts'
import { checkLength, responseExceeds } from '../../../../../rest/response-length.ts'
import { documentErrors, documentPlace, lookupMax } from '../../../../../rest/schemas/resource-schema.ts'
import { toAnchoredResponses } from '../../annotation-anchors.ts'
import { annotationRecords, statusValues } from '../../comment-schema.ts'

const ids = json.list(json.id(), { maxItems: lookupMax })

export const getAnnotations = defineAgentOperation({
  path: '/v2/commentannotations/get',
  agents: { role: 'viewer' },
  effect: 'reads',
  runsAt: 'owner',
  audited: 'read',
  summary: 'List annotations',
  description:
    'Annotations of a document with their first comments, by creation time, that match all filters. An annotation that ' +
    'exists from the first page to the last is returned exactly once. A page may have fewer items than requested, or no ' +
    'items: continue until there is no `pageToken`. An agent gets no email addresses of users.',
  request: json.object(
    { ...documentPlace },
    {
      annotationIds: {
        ...ids,
        description: 'Only annotations with these ids, in this order and without pages.',
      },
      locationIds: { ...ids, description: 'Only annotations in one of these locations.' },
      statuses: json.list(json.choice(statusValues), { maxItems: 2 }),
      userId: json.id(
        'Only annotations that this user created, commented on or reacted to, or that are assigned to this user.',
      ),
      order: json.choice(['desc', 'asc'], 'By time: the newest first, or the oldest.', { default: 'desc' }),
      ...pageRequest,
    },
  ),
  response: annotationRecords,
  errors: [...documentErrors, responseExceeds],
  async handler({ annotationIds, order = 'desc', ...data }, context) {
    const { organizationId, documentId, locationIds, statuses, userId } = data
    const { annotations } = context.services
    const scope = { ...context.caller.tenant, organizationId }
    const filter = { documentId, locationIds, statuses, userId }
    if (annotationIds !== undefined) {
      const found = await annotations.find(scope, filter, annotationIds)
      checkLength(found, context.services.config.maxResponseBytes, 'request fewer annotationIds')
      const all = withVisibleUsers(context.caller, await toAnchoredResponses(context, data, found))
      return { message: `${found.length} annotations found.`, data: all }
    }
    const filters = [locationIds ?? null, statuses ?? null, userId ?? null]
    const query = ['annotations', organizationId, documentId, ...filters, order]
    const { found, token } = await readPage(context, query, data, (range) =>
      annotations.list(scope, { ...filter, order, ...range }),
    )
    return {
      message: `${found.items.length} annotations found.`,
      data: withVisibleUsers(context.caller, await toAnchoredResponses(context, data, found.items)),
      ...token,
    }
  },
})
