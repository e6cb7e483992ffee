import { json } from '../../../../../../core/base/schema.ts'
import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../../rest/schemas/batch-results.ts'
import { documentPlace } from '../../../../../../rest/schemas/resource-schema.ts'
import { commentLimits as limits } from '../../../../limits.ts'
import {
  actionScopeOf,
  checkCommentText,
  mergeEarlierResults,
  parseComments,
} from '../../../comment-input.ts'
import { actionFields, annotationErrors, annotationId, newComments } from '../../../comment-schema.ts'

export const addComments = defineAgentOperation({
  path: '/v2/commentannotations/comments/add',
  agents: { role: 'suggester', users: ['actionUser', 'comments.*.from'] },
  effect: 'adds',
  audited: 'change',
  grows: 'records',
  summary: 'Add comments',
  description:
    `Adds comments to the end of a thread, which has at most ${limits.comments}. With an id that is used already nothing ` +
    'is added (`success: false`). Event: `comment.add`.',
  batch: keyedBatch({ comments: 'commentId' }, checkCommentText),
  request: json.object({
    ...documentPlace,
    annotationId,
    ...actionFields,
    comments: {
      ...newComments,
      examples: [[{ commentId: 'comment-2', from: { userId: 'ann', name: 'Ann' }, text: 'It is.' }]],
    },
  }),
  response: batchResults,
  errors: annotationErrors,
  async handler(data, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: data.annotationId }
    const added = await context.services.comments.add(doing, parseComments(data.comments, context.ids))
    const results = mergeEarlierResults(added, context.ids, 'comment/id-taken')
    return { message: `${countSucceeded(results)} comments added.`, data: results }
  },
})
