import { type FromSchema, json } from '../../../core/base/schema.ts'
import { base64LengthMax } from '../../../core/model/base64.ts'
import { anchorLimits, anchorPlace } from '../../../rest/anchor-places.ts'
import {
  batchMax,
  createdAt,
  documentErrors,
  documentId,
  editorId,
  lastUpdated,
} from '../../../rest/schemas/resource-schema.ts'
import { notifiedUser } from '../../../rest/schemas/user-schema.ts'
import { type CommentRecord, withoutOrder } from '../comment-records.ts'
import { commentLimits as limits } from '../limits.ts'
import type { AnnotationView } from '../list-annotations.ts'

const id = json.id()

export const annotationId = { ...id, description: 'Id of the annotation.', examples: ['remark-1'] } as const
export const commentId = { ...id, description: 'Id of the comment.', examples: ['comment-1'] } as const

/** Request members of all calls that change something. */
export const actionFields = {
  actionUser: { ...notifiedUser, description: 'The user who makes the change.' },
} as const

export const statusValues = ['open', 'resolved'] as const

export const location = json.object(
  { id },
  { locationName: { type: 'string', maxLength: 1_000 } },
  {
    additionalProperties: {},
    description:
      'A place in your application, such as a page or a view. Other members are kept as they are; at most ' +
      `${limits.locationBytes} bytes of JSON.`,
    examples: [{ id: 'page-1', locationName: 'Page 1' }],
  },
)

const position = json.bytes(
  'Yjs relative position, encoded and base64. It keeps its place while the content changes.',
  { maxLength: base64LengthMax(limits.positionBytes) },
)

/** An anchor at the start of the text `content`. */
export const anchorExample = {
  editorId: 'main',
  contentKey: 'content',
  position: 'AQdjb250ZW50AA==',
} as const

const contentKey = json.text(
  'Name of the root. Default: the root of the attached schema, else the only root of the editor, else `content`.',
  { maxLength: limits.contentKeyCharacters },
)

const positionEnd = { ...position, description: 'Position of the end of a range, in the same form.' } as const

const context = { type: 'string', maxLength: limits.quoteCharacters } as const

export const anchor = json.object(
  { editorId },
  {
    contentKey,
    position,
    positionEnd,
    quote: {
      ...context,
      description:
        'Text of the content, instead of `position`. The server finds it as `/v2/crdt/edit` does, and stores its positions.',
    },
    before: { ...context, description: 'Text directly before the quote.' },
    after: { ...context, description: 'Text directly after the quote.' },
    occurrence: json.integer(
      'Which of several equal quotes is meant, from 1. Default: there must be exactly one.',
      { minimum: 1 },
    ),
  },
  {
    description: 'Place of the annotation in the content of an editor: either `position` or `quote`.',
    examples: [anchorExample],
  },
)

export const storedAnchor = json.object(
  { editorId, contentKey, position },
  { positionEnd },
  { description: 'Position of the annotation in the content of an editor.', examples: [anchorExample] },
)

/** Members of a new annotation that can also be changed later. */
export const annotationContent = {
  location,
  anchor,
  status: json.choice(statusValues),
  priority: json.orNull(
    { type: 'string', maxLength: limits.priorityCharacters },
    'Any name of a priority; null: none.',
  ),
  assignedTo: json.orNull(notifiedUser, 'User to whom the annotation is assigned; null: unassigned.'),
} as const

const suggestedContent = {
  description: `Suggested content: any JSON of at most ${limits.suggestionBytes} bytes.`,
} as const

export const newSuggestion = json.object(
  {},
  { content: suggestedContent },
  { description: 'Makes the annotation a suggestion, which can be accepted or rejected.' },
)

export const suggestionChange = json.object(
  {},
  {
    accept: json.boolean('True: the suggestion is accepted.'),
    reject: json.boolean('True: it is rejected.'),
    content: {
      ...suggestedContent,
      description: 'Replaces the suggested content; the suggestion is open again.',
    },
  },
  { description: 'Exactly one member.' },
)

const text = json.text(`At most ${limits.textBytes} bytes of UTF-8.`, {
  minLength: 1,
  maxLength: limits.textBytes,
  examples: ['Is this still right?'],
})

const from = { ...notifiedUser, description: 'The author.' } as const

export const newComments = json.list(
  json.object(
    { from, text },
    { commentId: { ...commentId, description: 'Unique in the annotation; default: generated.' } },
  ),
  { maxItems: batchMax },
)

export const commentChanges = json.list(json.object({ commentId, text }), { maxItems: batchMax })

const reactionId = { ...id, examples: ['reaction-1'] } as const
const reaction = json.text('Such as an emoji.', {
  minLength: 1,
  maxLength: limits.reactionCharacters,
  examples: ['👍'],
})

export const newReactions = json.list(
  json.object(
    { reaction },
    {
      reactionId: { ...reactionId, description: 'Unique in the comment; default: generated.' },
      user: { ...notifiedUser, description: 'User who reacts; default: `actionUser`.' },
    },
  ),
  { maxItems: limits.reactions },
)

export const reactionIds = json.list(reactionId, { maxItems: limits.reactions })

export const commentRecords = json.list(
  json.object({
    commentId,
    from,
    text,
    reactions: json.list(json.object({ reactionId, reaction, user: notifiedUser, createdAt })),
    createdAt,
    lastUpdated,
  }),
)

/** Schema of a suggestion with its outcome. */
export const suggestion = json.object({
  status: json.choice(['pending', 'accepted', 'rejected']),
  content: { description: 'Null if not given.' },
})

/** Schema of an annotation without its comments. */
export const annotationState = json.object({
  annotationId,
  documentId,
  ...annotationContent,
  location: json.orNull(location),
  anchor: json.orNull(storedAnchor),
  suggestion: json.orNull(suggestion),
  createdBy: notifiedUser,
  createdAt,
  lastUpdated: {
    ...lastUpdated,
    description: 'Epoch milliseconds of the last change of the annotation itself, without its comments.',
  },
})

export const annotationRecords = json.list({
  type: 'object',
  required: [...annotationState.required, 'comments', 'commentCount'],
  properties: {
    ...annotationState.properties,
    anchorPlace: json.orNull(
      anchorPlace,
      'The text at which the anchor is now; null: the text was deleted. Absent: the annotation has no anchor, or ' +
        `the content is larger than ${anchorLimits.anchorDocumentBytes} bytes or cannot be read now. A response has the places in ` +
        `the first ${anchorLimits.anchorEditors} editors.`,
    ),
    comments: {
      ...commentRecords,
      description:
        `The oldest ones: ${limits.commentsShown} at most, and no more than about ${limits.shownBytes} bytes. ` +
        '`comments/get` returns all.',
    },
    commentCount: json.integer('Total number of comments.'),
  },
})

const otherAnnotations =
  'If the call has other annotations, it succeeds, and the results of these annotations have the candidates'

/** Errors of operations that place anchors. */
export const anchorErrors = [
  {
    code: 'crdt/target-not-found',
    when: `no anchor can be placed, and the first quote is missing: \`details.candidates\` has up to five similar places. ${otherAnnotations}`,
  },
  {
    code: 'crdt/target-ambiguous',
    when: `no anchor can be placed, and the first quote is ambiguous: \`details.candidates\` has up to five of its places. ${otherAnnotations}`,
  },
] as const

/** Errors of operations on the comments of an annotation. */
export const annotationErrors = [
  ...documentErrors,
  { code: 'comment/annotation-not-found', when: 'the annotation does not exist' },
] as const

/** Errors of operations on a comment. */
export const commentErrors = [
  ...annotationErrors,
  { code: 'comment/not-found', when: 'the comment does not exist' },
] as const

export const toCommentResponse = (comment: CommentRecord): FromSchema<typeof commentRecords>[number] =>
  withoutOrder(comment)

/** Converts an annotation to its response. */
export const toAnnotationResponse = ({
  record,
  comments,
  commentCount,
}: AnnotationView): FromSchema<typeof annotationRecords>[number] => ({
  ...withoutOrder(record),
  comments: comments.map(toCommentResponse),
  commentCount,
})
