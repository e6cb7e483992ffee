import { json } from '../../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../../rest/schemas/batch-results.ts'
import { batchMax, documentPlace } from '../../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf } from '../../../comment-input.ts'
import { actionFields, annotationErrors, annotationId, commentId } from '../../../comment-schema.ts'

export const deleteComments = defineBatchOperation({
  path: '/v2/commentannotations/comments/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete comments',
  description: 'Deletes comments with their reactions; the annotation stays. Event: `comment.delete`.',
  items: { commentIds: null },
  done: 'comments deleted',
  request: json.object({
    ...documentPlace,
    annotationId,
    ...actionFields,
    commentIds: json.list(commentId, { maxItems: batchMax }),
  }),
  errors: annotationErrors,
  async handler(data, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: data.annotationId }
    return context.services.comments.delete(doing, data.commentIds)
  },
})
