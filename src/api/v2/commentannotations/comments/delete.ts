import { actingOf } from '../../../comment-input.ts'
import { acting, annotationId, commentId, noAnnotation, ofAnnotations } from '../../../comment-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'
import { batchMax } from '../../../resource-schema.ts'

export const deleteComments = operation({
  path: '/v2/commentannotations/comments/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete comments',
  description: 'Deletes comments with their reactions; the annotation stays. Event: `comment.delete`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId', 'actionUser', 'commentIds'],
    properties: {
      ...ofAnnotations,
      annotationId,
      ...acting,
      commentIds: { type: 'array', minItems: 1, maxItems: batchMax, items: commentId },
    },
  },
  response: keyedResults,
  errors: [noAnnotation],
  async handler(data, context) {
    const doing = { ...actingOf(context, data), annotationId: data.annotationId }
    const results = await context.services.threads.delete(doing, data.commentIds)
    return { message: `${countOf(results)} comments deleted.`, data: results }
  },
})
