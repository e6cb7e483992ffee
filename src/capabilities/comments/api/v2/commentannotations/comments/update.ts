import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../../rest/schemas/batch-results.ts'
import { documentPlace } from '../../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf, checkCommentText } from '../../../comment-input.ts'
import { actionFields, annotationErrors, annotationId, commentChanges } from '../../../comment-schema.ts'

export const updateComments = defineOperation({
  path: '/v2/commentannotations/comments/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  grows: 'records',
  summary: 'Change comments',
  description: 'Changes the texts of comments. Event: `comment.update`; the same text again has none.',
  batch: keyedBatch({ comments: 'commentId' }, checkCommentText),
  request: json.object({ ...documentPlace, annotationId, ...actionFields, comments: commentChanges }),
  response: batchResults,
  errors: annotationErrors,
  async handler(data, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: data.annotationId }
    const results = await context.services.comments.update(doing, data.comments)
    return { message: `${countSucceeded(results)} comments updated.`, data: results }
  },
})
