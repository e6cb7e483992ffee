import { json } from '../../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../../rest/schemas/batch-results.ts'
import { documentPlace } from '../../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf, checkCommentText } from '../../../comment-input.ts'
import { actionFields, annotationErrors, annotationId, commentChanges } from '../../../comment-schema.ts'

export const updateComments = defineBatchOperation({
  path: '/v2/commentannotations/comments/update',
  effect: 'repeatable',
  audited: 'change',
  grows: 'records',
  summary: 'Change comments',
  description: 'Changes the texts of comments. Event: `comment.update`; the same text again has none.',
  items: { comments: 'commentId' },
  check: checkCommentText,
  done: 'comments updated',
  request: json.object({ ...documentPlace, annotationId, ...actionFields, comments: commentChanges }),
  errors: annotationErrors,
  async handler(data, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: data.annotationId }
    return context.services.comments.update(doing, data.comments)
  },
})
