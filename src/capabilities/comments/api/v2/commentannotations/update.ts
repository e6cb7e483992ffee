import { json } from '../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../rest/operation.ts'
import { batchResults, countSucceeded, keyedBatch } from '../../../../../rest/schemas/batch-results.ts'
import { batchMax, documentErrors, documentPlace } from '../../../../../rest/schemas/resource-schema.ts'
import { parseAnchor, placeAnchors, requireAnchors } from '../../annotation-anchors.ts'
import { actionScopeOf, checkAnnotation, suggestionChangeOf } from '../../comment-input.ts'
import {
  actionFields,
  anchorErrors,
  anchorExample,
  annotationContent,
  annotationId,
  suggestionChange,
} from '../../comment-schema.ts'

export const updateAnnotations = defineOperation({
  path: '/v2/commentannotations/update',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  summary: 'Change annotations, or decide suggestions',
  description:
    'Changes the given members of annotations; omitted members keep their values. Some changed members cause an event: ' +
    '`comment_annotation.status_change`, `.priority_change`, `.assign`, `.suggestion_accept`, `.suggestion_reject`. ' +
    'Other changes cause only the activity `comment_annotation.update`. An accepted or rejected suggestion is also ' +
    'stored as a judgment of `actionUser` about the text of the first comment.',
  batch: keyedBatch({ annotations: 'annotationId' }, checkAnnotation),
  request: json.object({
    ...documentPlace,
    ...actionFields,
    annotations: json.list(
      json.object({ annotationId }, { ...annotationContent, suggestion: suggestionChange }),
      {
        maxItems: batchMax,
        examples: [
          [
            {
              annotationId: 'remark-1',
              anchor: anchorExample,
              status: 'resolved',
              suggestion: { accept: true },
            },
          ],
        ],
      },
    ),
  }),
  response: batchResults,
  errors: [...documentErrors, ...anchorErrors],
  async handler(data, context) {
    const given = data.annotations.map((given) => {
      return {
        annotationId: given.annotationId,
        location: given.location,
        anchor: parseAnchor(given.anchor),
        status: given.status,
        priority: given.priority,
        assignedTo: given.assignedTo,
        suggestion: suggestionChangeOf(given.suggestion),
      }
    })
    const changes = await placeAnchors(context, data, given)
    const results = await context.services.annotations.update(actionScopeOf(context, data), changes)
    requireAnchors(changes, results)
    return { message: `${countSucceeded(results)} annotations updated.`, data: results }
  },
})
