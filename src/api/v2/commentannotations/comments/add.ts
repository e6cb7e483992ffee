import { commentLimits as limits } from '../../../../comments/limits.ts'
import { commentIdUsed } from '../../../../comments/threads.ts'
import { actingOf, checkTexts, commentsOf, withEarlier } from '../../../comment-input.ts'
import { acting, annotationId, newComments, noAnnotation, ofAnnotations } from '../../../comment-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'

export const addComments = operation({
  path: '/v2/commentannotations/comments/add',
  auth: 'key',
  effect: 'adds',
  audited: 'change',
  summary: 'Add comments',
  description:
    `Adds comments to the end of a thread, which has at most ${limits.comments}. With an id that is used already nothing ` +
    'is added (`success: false`). Event: `comment.add`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId', 'actionUser', 'comments'],
    properties: {
      ...ofAnnotations,
      annotationId,
      ...acting,
      comments: {
        ...newComments,
        minItems: 1,
        examples: [[{ commentId: 'comment-2', from: { userId: 'ann', name: 'Ann' }, text: 'It is.' }]],
      },
    },
  },
  response: keyedResults,
  errors: [noAnnotation],
  async handler(data, context) {
    checkTexts('/data/comments', data.comments)
    const doing = { ...actingOf(context, data), annotationId: data.annotationId }
    const added = await context.services.threads.add(doing, commentsOf(data.comments, context.ids))
    const results = withEarlier(added, context.ids, commentIdUsed)
    return { message: `${countOf(results)} comments added.`, data: results }
  },
})
