import {
  annotationId,
  commentRecords,
  noAnnotation,
  ofAnnotations,
  showComment,
} from '../../../comment-schema.ts'
import { operation } from '../../../operation.ts'
import { paging, readPage } from '../../../paging.ts'
import { lookupMax } from '../../../resource-schema.ts'

export const getComments = operation({
  path: '/v2/commentannotations/comments/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List comments',
  description:
    'All comments of an annotation, the oldest first. A page may hold fewer than asked for; there are more as long as ' +
    'there is a `pageToken`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId'],
    properties: {
      ...ofAnnotations,
      annotationId,
      commentIds: {
        type: 'array',
        minItems: 1,
        maxItems: lookupMax,
        items: { type: 'string', format: 'id' },
        description: 'These, as far as they exist, in this order and without pages.',
      },
      ...paging,
    },
  },
  response: commentRecords,
  errors: [noAnnotation],
  async handler({ organizationId, commentIds, ...data }, context) {
    const { threads } = context.services
    const scope = { ...context.caller.tenant, organizationId }
    if (commentIds !== undefined) {
      const found = await threads.find(scope, data, commentIds)
      return { message: `${found.length} comments found.`, data: found.map(showComment) }
    }
    const query = ['comments', organizationId, data.documentId, data.annotationId]
    const { found, token } = await readPage(context, query, data, (range) => threads.list(scope, data, range))
    return { message: `${found.items.length} comments found.`, data: found.items.map(showComment), ...token }
  },
})
