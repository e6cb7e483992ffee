import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../../rest/schemas/batch-results.ts'
import { batchMax, documentPlace } from '../../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf } from '../../../comment-input.ts'
import { actionFields, annotationErrors, annotationId, commentId } from '../../../comment-schema.ts'

export const deleteComments = defineOperation({
  path: '/v2/commentannotations/comments/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete comments',
  description: 'Deletes comments with their reactions; the annotation stays. Event: `comment.delete`.',
  batch: keyedBatch({ commentIds: null }),
  request: json.object({
    ...documentPlace,
    annotationId,
    ...actionFields,
    commentIds: json.list(commentId, { maxItems: batchMax }),
  }),
  response: batchResults,
  errors: annotationErrors,
  async handler(data, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: data.annotationId }
    const results = await context.services.comments.delete(doing, data.commentIds)
    return { message: `${countSucceeded(results)} comments deleted.`, data: results }
  },
})
