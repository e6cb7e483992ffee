import { actingOf, checkTexts } from '../../../comment-input.ts'
import { acting, annotationId, commentChanges, noAnnotation, ofAnnotations } from '../../../comment-schema.ts'
import { countOf, keyedResults } from '../../../keyed.ts'
import { operation } from '../../../operation.ts'

export const updateComments = operation({
  path: '/v2/commentannotations/comments/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change comments',
  description: 'Changes the texts of comments. Event: `comment.update`; the same text again has none.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'annotationId', 'actionUser', 'comments'],
    properties: { ...ofAnnotations, annotationId, ...acting, comments: commentChanges },
  },
  response: keyedResults,
  errors: [noAnnotation],
  async handler(data, context) {
    checkTexts('/data/comments', data.comments)
    const doing = { ...actingOf(context, data), annotationId: data.annotationId }
    const results = await context.services.threads.update(doing, data.comments)
    return { message: `${countOf(results)} comments updated.`, data: results }
  },
})
