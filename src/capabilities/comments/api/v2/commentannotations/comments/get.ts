import { json } from '../../../../../../core/base/schema.ts'
import { withVisibleUsers } from '../../../../../../rest/agents/authorize-agent.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { pageRequest, readPage } from '../../../../../../rest/paging/page-request.ts'
import { documentPlace, lookupMax } from '../../../../../../rest/schemas/resource-schema.ts'
import { annotationErrors, annotationId, commentRecords, toCommentResponse } from '../../../comment-schema.ts'

export const getComments = defineAgentOperation({
  path: '/v2/commentannotations/comments/get',
  agents: { role: 'viewer' },
  effect: 'reads',
  audited: 'read',
  summary: 'List comments',
  description:
    'All comments of an annotation, the oldest first. A page may have fewer items than requested: continue until there ' +
    'is no `pageToken`. An agent gets no email addresses of users.',
  request: json.object(
    { ...documentPlace, annotationId },
    {
      commentIds: json.list(json.id(), {
        maxItems: lookupMax,
        description: 'Only comments with these ids, in this order and without pages.',
      }),
      ...pageRequest,
    },
  ),
  response: commentRecords,
  errors: annotationErrors,
  async handler({ organizationId, commentIds, ...data }, context) {
    const { comments } = context.services
    const scope = { ...context.caller.tenant, organizationId }
    if (commentIds !== undefined) {
      const found = await comments.find(scope, data, commentIds)
      return {
        message: `${found.length} comments found.`,
        data: withVisibleUsers(context.caller, found.map(toCommentResponse)),
      }
    }
    const query = ['comments', organizationId, data.documentId, data.annotationId]
    const { found, token } = await readPage(context, query, data, (range) =>
      comments.list(scope, data, range),
    )
    return {
      message: `${found.items.length} comments found.`,
      data: withVisibleUsers(context.caller, found.items.map(toCommentResponse)),
      ...token,
    }
  },
})
