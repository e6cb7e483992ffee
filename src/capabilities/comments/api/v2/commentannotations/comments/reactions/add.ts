import { randomUUID } from 'node:crypto'
import { json } from '../../../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../../../rest/schemas/batch-results.ts'
import { documentPlace } from '../../../../../../../rest/schemas/resource-schema.ts'
import { commentLimits as limits } from '../../../../../limits.ts'
import { actionScopeOf } from '../../../../comment-input.ts'
import {
  actionFields,
  annotationId,
  commentErrors,
  commentId,
  newReactions,
} from '../../../../comment-schema.ts'

export const addReactions = defineBatchOperation({
  path: '/v2/commentannotations/comments/reactions/add',
  effect: 'once',
  audited: 'change',
  grows: 'records',
  summary: 'React to a comment',
  description:
    `Adds reactions to a comment, which has at most ${limits.reactions} with ${limits.reactionsBytes} bytes of JSON. The ` +
    'server does not add reactions beyond these limits, with an existing id, or repeated by the same user ' +
    '(`success: false`). Event: `comment.reaction_add`.',
  items: { reactions: 'reactionId' },
  done: 'reactions added',
  request: json.object({
    ...documentPlace,
    annotationId,
    commentId,
    ...actionFields,
    reactions: newReactions,
  }),
  errors: commentErrors,
  async handler({ annotationId: annotation, commentId: comment, ...data }, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: annotation, commentId: comment }
    const reactions = data.reactions.map(({ reactionId = randomUUID(), reaction, user }) => ({
      reactionId,
      reaction,
      user: user ?? data.actionUser,
    }))
    return context.services.reactions.add(doing, reactions)
  },
})
