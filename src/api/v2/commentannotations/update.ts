import { noDocument } from '../../activity-schema.ts'
import { actingOf, anchorOf, checkSizes, suggestionChangeOf } from '../../comment-input.ts'
import {
  acting,
  anchorExample,
  annotationContent,
  annotationId,
  ofAnnotations,
  suggestionChange,
} from '../../comment-schema.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { onlyKnown } from '../../notification-schema.ts'
import { operation } from '../../operation.ts'
import { batchMax } from '../../resource-schema.ts'

export const updateAnnotations = operation({
  path: '/v2/commentannotations/update',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'Change annotations, or decide suggestions',
  description:
    'Changes what is given of annotations; what is left out stays as it is. Each changed member has an event of its own: ' +
    '`comment_annotation.status_change`, `.priority_change`, `.assign`, `.suggestion_accept`, `.suggestion_reject`; what ' +
    'else is changed leaves the activity `comment_annotation.update` only, and what changes nothing none. A suggestion ' +
    'that is accepted or rejected is kept as a judgment, too: of the text of the first comment, by `actionUser`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'actionUser', 'annotations'],
    properties: {
      ...ofAnnotations,
      ...acting,
      annotations: {
        type: 'array',
        minItems: 1,
        maxItems: batchMax,
        items: {
          type: 'object',
          required: ['annotationId'],
          properties: { annotationId, ...annotationContent, suggestion: suggestionChange },
        },
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
    },
  },
  response: keyedResults,
  errors: [noDocument],
  async handler(data, context) {
    const changes = data.annotations.map((given, index) => {
      const at = `/data/annotations/${index}`
      const { assignedTo } = given
      checkSizes(at, given)
      return {
        annotationId: given.annotationId,
        location: given.location,
        anchor: anchorOf(`${at}/anchor`, given.anchor),
        status: given.status,
        priority: given.priority,
        assignedTo: assignedTo === undefined || assignedTo === null ? assignedTo : onlyKnown(assignedTo),
        suggestion: suggestionChangeOf(`${at}/suggestion`, given.suggestion),
      }
    })
    const results = await context.services.annotations.update(actingOf(context, data), changes)
    return { message: `${countOf(results)} annotations updated.`, data: results }
  },
})
