import { json } from '../../../../../core/base/schema.ts'
import type { BatchResults } from '../../../../../core/directory/store/batch.ts'
import { reportCreated } from '../../../../../rest/near-miss-warnings.ts'
import { type CreatedLists, defineAgentOperation } from '../../../../../rest/operation.ts'
import {
  batchResults,
  countSucceeded,
  isAnySuccessful,
  keyedBatch,
} from '../../../../../rest/schemas/batch-results.ts'
import { batchMax, documentErrors, documentPlace } from '../../../../../rest/schemas/resource-schema.ts'
import { createFlags, createMissingParents, makesParents } from '../../../../../rest/schemas/user-schema.ts'
import { invalidAt } from '../../../../../rest/validator.ts'
import { commentLimits as limits } from '../../../limits.ts'
import { parseAnchor, placeAnchors, requireAnchors } from '../../annotation-anchors.ts'
import {
  actionScopeOf,
  checkAnnotation,
  checkSizes,
  mergeEarlierResults,
  parseComments,
  parseSuggestion,
} from '../../comment-input.ts'
import {
  actionFields,
  anchorErrors,
  anchorExample,
  annotationContent,
  annotationId,
  location,
  newComments,
  newSuggestion,
} from '../../comment-schema.ts'

const { createOrganization, createDocument } = createFlags

export const addAnnotations = defineAgentOperation({
  path: '/v2/commentannotations/add',
  agents: {
    role: 'suggester',
    users: ['actionUser', 'annotations.*.comments.*.from'],
    // Ids of annotations are unique in the organization, so they would reveal annotations of other documents.
    without: ['annotations.*.annotationId', 'createOrganization', 'createDocument'],
  },
  effect: 'adds',
  runsAt: 'owner',
  audited: 'change',
  grows: 'records',
  warns: true,
  creates: true,
  summary: 'Add annotations',
  description:
    'Starts threads of comments on a document. With an id that exists already, nothing is added (`success: false`), so ' +
    `you can repeat the call safely. At most ${limits.commentsInCall} comments in one call, ${limits.comments} in a thread. ` +
    'Events: `comment_annotation.add`, and `comment.add` for each comment.',
  batch: keyedBatch({ annotations: 'annotationId' }, checkAnnotation),
  request: json.object(
    {
      ...documentPlace,
      ...actionFields,
      annotations: json.list(
        json.object(
          {},
          {
            annotationId: { ...annotationId, description: 'Unique in the organization; default: generated.' },
            ...annotationContent,
            suggestion: newSuggestion,
            comments: newComments,
          },
        ),
        {
          maxItems: batchMax,
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
      ),
    },
    {
      location: { ...location, description: 'Location of annotations without a location of their own.' },
      createOrganization,
      createDocument,
    },
  ),
  response: batchResults,
  errors: [...documentErrors, ...anchorErrors],
  async handler(data, context) {
    checkSizes('/data', data)
    const given = data.annotations.map((given) => {
      const { assignedTo = null, comments = [] } = given
      return {
        annotationId: given.annotationId ?? context.ids.make(),
        location: given.location ?? data.location ?? null,
        anchor: parseAnchor(given.anchor),
        status: given.status ?? 'open',
        priority: given.priority ?? null,
        assignedTo,
        suggestion: parseSuggestion(given.suggestion),
        comments: parseComments(comments, context.ids),
      }
    })
    if (given.reduce((sum, { comments }) => sum + comments.length, 0) > limits.commentsInCall)
      throw invalidAt({
        path: '/data/annotations',
        message: `must have at most ${limits.commentsInCall} comments together`,
      })
    const doing = actionScopeOf(context, data)
    const { services } = context
    const placed = await placeAnchors(context, data, given)
    const annotations = placed.map((annotation) => ({ ...annotation, anchor: annotation.anchor ?? null }))
    const merged = (results: BatchResults) =>
      mergeEarlierResults(results, context.ids, 'comment/annotation-id-taken')
    let created: CreatedLists = {}
    if (makesParents(data)) {
      const results = merged(await services.annotations.rehearseAdding(doing, annotations))
      requireAnchors(placed, results)
      if (!isAnySuccessful(results)) return { message: 'No annotations added.', data: results, created }
      created = await createMissingParents(
        services,
        doing.scope,
        { type: 'document', id: data.documentId },
        data,
      )
    }
    const results = merged(await services.annotations.add(doing, annotations))
    requireAnchors(placed, results)
    const reported = await reportCreated(services, doing.scope, created)
    return { message: `${countSucceeded(results)} annotations added.`, data: results, ...reported }
  },
})
