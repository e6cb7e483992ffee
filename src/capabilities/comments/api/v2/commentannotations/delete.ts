import { json } from '../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../rest/schemas/batch-results.ts'
import { batchMax, documentErrors, documentPlace } from '../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf } from '../../comment-input.ts'
import { actionFields, annotationId } from '../../comment-schema.ts'

export const deleteAnnotations = defineOperation({
  path: '/v2/commentannotations/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete annotations',
  description:
    'Deletes annotations of a document with all their comments. There is one activity `comment_annotation.delete` for ' +
    'each, and the event `comment.delete` for each of its comments. One that the document does not have is ' +
    '`success: false`.',
  batch: keyedBatch({ annotationIds: null }),
  request: json.object({
    ...documentPlace,
    ...actionFields,
    annotationIds: json.list(annotationId, { maxItems: batchMax }),
  }),
  response: batchResults,
  errors: documentErrors,
  async handler(data, context) {
    const results = await context.services.annotations.delete(
      actionScopeOf(context, data),
      data.annotationIds,
    )
    return { message: `${countSucceeded(results)} annotations deleted.`, data: results }
  },
})
