import { json } from '../../../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../../../rest/schemas/batch-results.ts'
import { documentPlace } from '../../../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf } from '../../../../comment-input.ts'
import {
  actionFields,
  annotationId,
  commentErrors,
  commentId,
  reactionIds,
} from '../../../../comment-schema.ts'

export const deleteReactions = defineBatchOperation({
  path: '/v2/commentannotations/comments/reactions/delete',
  effect: 'once',
  audited: 'change',
  summary: 'Take back reactions',
  description: 'Deletes reactions of a comment. Event: `comment.reaction_delete`.',
  items: { reactionIds: null },
  done: 'reactions deleted',
  request: json.object({ ...documentPlace, annotationId, commentId, ...actionFields, reactionIds }),
  errors: commentErrors,
  async handler({ annotationId: annotation, commentId: comment, ...data }, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: annotation, commentId: comment }
    return context.services.reactions.delete(doing, data.reactionIds)
  },
})
