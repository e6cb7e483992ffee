import { annotationIdUsed } from '../../../comments/annotations.ts'
import { commentLimits as limits } from '../../../comments/limits.ts'
import {
  actingOf,
  anchorOf,
  checkSizes,
  checkTexts,
  commentsOf,
  suggestionOf,
  withEarlier,
} from '../../comment-input.ts'
import {
  acting,
  anchorExample,
  annotationContent,
  annotationId,
  location,
  newComments,
  newSuggestion,
  ofAnnotations,
} from '../../comment-schema.ts'
import { countOf, keyedResults } from '../../keyed.ts'
import { onlyKnown } from '../../notification-schema.ts'
import { operation } from '../../operation.ts'
import { batchMax } from '../../resource-schema.ts'
import { createFlags, createMissing } from '../../user-schema.ts'
import { invalidAt } from '../../validator.ts'

const { createOrganization, createDocument } = createFlags

export const addAnnotations = operation({
  path: '/v2/commentannotations/add',
  auth: 'key',
  effect: 'adds',
  audited: 'change',
  summary: 'Add annotations',
  description:
    'Starts threads of comments on a document. With an id that is used already nothing is added (`success: false`), so ' +
    `that a call can be made again. At most ${limits.commentsInCall} comments in one call, ${limits.comments} in a thread. ` +
    'Events: `comment_annotation.add`, and `comment.add` for each comment.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'actionUser', 'annotations'],
    properties: {
      ...ofAnnotations,
      ...acting,
      location: { ...location, description: 'Of those annotations that have none of their own.' },
      annotations: {
        type: 'array',
        minItems: 1,
        maxItems: batchMax,
        items: {
          type: 'object',
          properties: {
            annotationId: { ...annotationId, description: 'Unique in the organization; made if left out.' },
            ...annotationContent,
            suggestion: newSuggestion,
            comments: newComments,
          },
        },
        examples: [
          [
            {
              annotationId: 'remark-2',
              location: { id: 'page-1', locationName: 'Page 1' },
              anchor: anchorExample,
              comments: [
                {
                  from: { userId: 'ann', name: 'Ann' },
                  text: 'Is this still right?',
                  commentId: 'comment-1',
                },
              ],
            },
          ],
        ],
      },
      createOrganization,
      createDocument,
    },
  },
  response: keyedResults,
  errors: [{ status: 'NOT_FOUND', when: 'the organization or the document does not exist' }],
  async handler(data, context) {
    checkSizes('/data', data)
    const annotations = data.annotations.map((given, index) => {
      const at = `/data/annotations/${index}`
      const { assignedTo = null, comments = [] } = given
      checkSizes(at, given)
      checkTexts(`${at}/comments`, comments)
      return {
        annotationId: given.annotationId ?? context.ids.make(),
        location: given.location ?? data.location ?? null,
        anchor: anchorOf(`${at}/anchor`, given.anchor) ?? null,
        status: given.status ?? 'open',
        priority: given.priority ?? null,
        assignedTo: assignedTo === null ? null : onlyKnown(assignedTo),
        suggestion: suggestionOf(given.suggestion),
        comments: commentsOf(comments, context.ids),
      }
    })
    if (annotations.reduce((sum, { comments }) => sum + comments.length, 0) > limits.commentsInCall)
      throw invalidAt({
        path: '/data/annotations',
        message: `must have at most ${limits.commentsInCall} comments together`,
      })
    const doing = actingOf(context, data)
    const { services } = context
    await createMissing(services, doing.scope, { type: 'document', id: data.documentId }, data)
    const added = await services.annotations.add(doing, annotations)
    const results = withEarlier(added, context.ids, annotationIdUsed)
    return { message: `${countOf(results)} annotations added.`, data: results }
  },
})
