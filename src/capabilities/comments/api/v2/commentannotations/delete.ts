import { json } from '../../../../../core/base/schema.ts'
import { defineBatchOperation } from '../../../../../rest/schemas/batch-results.ts'
import { batchMax, documentErrors, documentPlace } from '../../../../../rest/schemas/resource-schema.ts'
import { actionScopeOf } from '../../comment-input.ts'
import { actionFields, annotationId } from '../../comment-schema.ts'

export const deleteAnnotations = defineBatchOperation({
  path: '/v2/commentannotations/delete',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete annotations',
  description:
    'Deletes annotations of a document with all their comments. There is one activity `comment_annotation.delete` for ' +
    'each, and the event `comment.delete` for each of its comments. One that the document does not have is ' +
    '`success: false`.',
  items: { annotationIds: null },
  done: 'annotations deleted',
  request: json.object({
    ...documentPlace,
    ...actionFields,
    annotationIds: json.list(annotationId, { maxItems: batchMax }),
  }),
  errors: documentErrors,
  handler: (data, context) =>
    context.services.annotations.delete(actionScopeOf(context, data), data.annotationIds),
})
