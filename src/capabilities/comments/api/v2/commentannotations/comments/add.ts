import { defineAgentOperation } from '../../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../../rest/schemas/batch-results.ts'
import { commentLimits as limits } from '../../../../limits.ts'
import {
  actionScopeOf,
  checkCommentText,
  mergeEarlierResults,
  parseComments,
} from '../../../comment-input.ts'
import {
  actionFields,
  annotationErrors,
  annotationId,
  annotationScopeFields,
  newComments,
} from '../../../comment-schema.ts'

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
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId', 'actionUser', 'comments'],
    properties: {
      ...annotationScopeFields,
      annotationId,
      ...actionFields,
      comments: {
        ...newComments,
        examples: [[{ commentId: 'comment-2', from: { userId: 'ann', name: 'Ann' }, text: 'It is.' }]],
      },
    },
  },
  response: batchResults,
  errors: annotationErrors,
  async handler(data, context) {
    const doing = { ...actionScopeOf(context, data), annotationId: data.annotationId }
    const added = await context.services.threads.add(doing, parseComments(data.comments, context.ids))
    const results = mergeEarlierResults(added, context.ids, 'comment/id-taken')
    return { message: `${countSucceeded(results)} comments added.`, data: results }
  },
})
