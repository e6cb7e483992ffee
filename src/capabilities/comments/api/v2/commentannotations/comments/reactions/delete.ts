import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../../../rest/schemas/batch-results.ts'
import { documentPlace } from '../../../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf } from '../../../../comment-input.ts'
import {
  actionFields,
  annotationId,
  commentErrors,
  commentId,
  reactionIds,
} from '../../../../comment-schema.ts'

export const deleteReactions = defineOperation({
  path: '/v2/commentannotations/comments/reactions/delete',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'Take back reactions',
  description: 'Deletes reactions of a comment. Event: `comment.reaction_delete`.',
  batch: keyedBatch({ reactionIds: null }),
  request: json.object({ ...documentPlace, annotationId, commentId, ...actionFields, reactionIds }),
  response: batchResults,
  errors: commentErrors,
  async handler({ annotationId: annotation, commentId: comment, ...data }, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: annotation, commentId: comment }
    const results = await context.services.reactions.delete(doing, data.reactionIds)
    return { message: `${countSucceeded(results)} reactions deleted.`, data: results }
  },
})
