import { actingOf } from '../../../../comment-input.ts'
import {
  acting,
  annotationId,
  commentId,
  noComment,
  ofAnnotations,
  reactionIds,
} from '../../../../comment-schema.ts'
import { countOf, keyedResults } from '../../../../keyed.ts'
import { operation } from '../../../../operation.ts'

export const deleteReactions = operation({
  path: '/v2/commentannotations/comments/reactions/delete',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'Take back reactions',
  description: 'Deletes reactions of a comment. Event: `comment.reaction_delete`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId', 'commentId', 'actionUser', 'reactionIds'],
    properties: { ...ofAnnotations, annotationId, commentId, ...acting, reactionIds },
  },
  response: keyedResults,
  errors: [noComment],
  async handler({ annotationId: annotation, commentId: comment, ...data }, context) {
    const doing = { ...actingOf(context, data), annotationId: annotation, commentId: comment }
    const results = await context.services.reactions.delete(doing, data.reactionIds)
    return { message: `${countOf(results)} reactions deleted.`, data: results }
  },
})
