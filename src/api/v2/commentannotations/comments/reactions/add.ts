import { randomUUID } from 'node:crypto'
import { commentLimits as limits } from '../../../../../comments/limits.ts'
import { actingOf } from '../../../../comment-input.ts'
import {
  acting,
  annotationId,
  commentId,
  newReactions,
  noComment,
  ofAnnotations,
} from '../../../../comment-schema.ts'
import { countOf, keyedResults } from '../../../../keyed.ts'
import { onlyKnown } from '../../../../notification-schema.ts'
import { operation } from '../../../../operation.ts'

export const addReactions = operation({
  path: '/v2/commentannotations/comments/reactions/add',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'React to a comment',
  description:
    `Adds reactions to a comment, which has at most ${limits.reactions}, of ${limits.reactionsBytes} bytes of JSON. What ` +
    'goes beyond is not added, nor is one with an id that is used already, nor where the user has reacted so already ' +
    '(`success: false`). Event: `comment.reaction_add`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId', 'commentId', 'actionUser', 'reactions'],
    properties: { ...ofAnnotations, annotationId, commentId, ...acting, reactions: newReactions },
  },
  response: keyedResults,
  errors: [noComment],
  async handler({ annotationId: annotation, commentId: comment, ...data }, context) {
    const doing = { ...actingOf(context, data), annotationId: annotation, commentId: comment }
    const reactions = data.reactions.map(({ reactionId = randomUUID(), reaction, user }) => ({
      reactionId,
      reaction,
      user: onlyKnown(user ?? data.actionUser),
    }))
    const results = await context.services.reactions.add(doing, reactions)
    return { message: `${countOf(results)} reactions added.`, data: results }
  },
})
