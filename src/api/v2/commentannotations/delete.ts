import { noDocument } from '../../activity-schema.ts'
import { actingOf } from '../../comment-input.ts'
import { acting, annotationId, ofAnnotations } from '../../comment-schema.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { operation } from '../../operation.ts'
import { batchMax } from '../../resource-schema.ts'

export const deleteAnnotations = operation({
  path: '/v2/commentannotations/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete annotations',
  description:
    'Deletes annotations of a document with all their comments. There is one activity `comment_annotation.delete` for ' +
    'each, and the event `comment.delete` for each of its comments. One that the document does not have is ' +
    '`success: false`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'actionUser', 'annotationIds'],
    properties: {
      ...ofAnnotations,
      ...acting,
      annotationIds: { type: 'array', minItems: 1, maxItems: batchMax, items: annotationId },
    },
  },
  response: keyedResults,
  errors: [noDocument],
  async handler(data, context) {
    const results = await context.services.annotations.delete(actingOf(context, data), data.annotationIds)
    return { message: `${countOf(results)} annotations deleted.`, data: results }
  },
})
