import type { FromSchema } from '../../../core/base/schema.ts'
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

const id = { type: 'string', format: 'id' } as const

export const annotationId = { ...id, description: 'Id of the annotation.', examples: ['remark-1'] } as const
export const commentId = { ...id, description: 'Id of the comment.', examples: ['comment-1'] } as const

/** Request members of all calls that change something. */
export const actionFields = {
  actionUser: { ...notifiedUser, description: 'The user who makes the change.' },
} as const

export const statusValues = ['open', 'resolved'] as const

export const location = {
  type: 'object',
  required: ['id'],
  properties: { id, locationName: { type: 'string', maxLength: 1_000 } },
  additionalProperties: {},
  description:
    'A place in your application, such as a page or a view. Other members are kept as they are; at most ' +
    `${limits.locationBytes} bytes of JSON.`,
  examples: [{ id: 'page-1', locationName: 'Page 1' }],
} as const

const position = {
  type: 'string',
  format: 'byte',
  maxLength: base64LengthMax(limits.positionBytes),
  description: 'Yjs relative position, encoded and base64. It keeps its place while the content changes.',
} as const

/** An anchor at the start of the text `content`. */
export const anchorExample = {
  editorId: 'main',
  contentKey: 'content',
  position: 'AQdjb250ZW50AA==',
} as const

const contentKey = {
  type: 'string',
  maxLength: limits.contentKeyCharacters,
  description:
    'Name of the root. Default: the root of the attached schema, else the only root of the editor, else `content`.',
} as const

const positionEnd = { ...position, description: 'Position of the end of a range, in the same form.' } as const

const context = { type: 'string', maxLength: limits.quoteCharacters } as const

export const anchor = {
  type: 'object',
  required: ['editorId'],
  properties: {
    editorId,
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
    occurrence: {
      type: 'integer',
      minimum: 1,
      description: 'Which of several equal quotes is meant, from 1. Default: there must be exactly one.',
    },
  },
  description: 'Place of the annotation in the content of an editor: either `position` or `quote`.',
  examples: [anchorExample],
} as const

export const storedAnchor = {
  type: 'object',
  required: ['editorId', 'contentKey', 'position'],
  properties: { editorId, contentKey, position, positionEnd },
  description: 'Position of the annotation in the content of an editor.',
  examples: [anchorExample],
} as const

/** Members of a new annotation that can also be changed later. */
export const annotationContent = {
  location,
  anchor,
  status: { type: 'string', enum: statusValues },
  priority: {
    anyOf: [{ type: 'string', maxLength: limits.priorityCharacters }, { type: 'null' }],
    description: 'Any name of a priority; null: none.',
  },
  assignedTo: {
    anyOf: [notifiedUser, { type: 'null' }],
    description: 'User to whom the annotation is assigned; null: unassigned.',
  },
} as const

const suggestedContent = {
  description: `Suggested content: any JSON of at most ${limits.suggestionBytes} bytes.`,
} as const

export const newSuggestion = {
  type: 'object',
  properties: { content: suggestedContent },
  description: 'Makes the annotation a suggestion, which can be accepted or rejected.',
} as const

export const suggestionChange = {
  type: 'object',
  properties: {
    accept: { type: 'boolean', description: 'True: the suggestion is accepted.' },
    reject: { type: 'boolean', description: 'True: it is rejected.' },
    content: {
      ...suggestedContent,
      description: 'Replaces the suggested content; the suggestion is open again.',
    },
  },
  description: 'Exactly one member.',
} as const

const text = {
  type: 'string',
  minLength: 1,
  maxLength: limits.textBytes,
  description: `At most ${limits.textBytes} bytes of UTF-8.`,
  examples: ['Is this still right?'],
} as const

const from = { ...notifiedUser, description: 'The author.' } as const

export const newComments = {
  type: 'array',
  maxItems: batchMax,
  items: {
    type: 'object',
    required: ['from', 'text'],
    properties: {
      commentId: { ...commentId, description: 'Unique in the annotation; default: generated.' },
      from,
      text,
    },
  },
} as const

export const commentChanges = {
  type: 'array',
  maxItems: batchMax,
  items: { type: 'object', required: ['commentId', 'text'], properties: { commentId, text } },
} as const

const reactionId = { ...id, examples: ['reaction-1'] } as const
const reaction = {
  type: 'string',
  minLength: 1,
  maxLength: limits.reactionCharacters,
  description: 'Such as an emoji.',
  examples: ['👍'],
} as const

export const newReactions = {
  type: 'array',
  maxItems: limits.reactions,
  items: {
    type: 'object',
    required: ['reaction'],
    properties: {
      reactionId: { ...reactionId, description: 'Unique in the comment; default: generated.' },
      reaction,
      user: { ...notifiedUser, description: 'User who reacts; default: `actionUser`.' },
    },
  },
} as const

export const reactionIds = {
  type: 'array',
  maxItems: limits.reactions,
  items: reactionId,
} as const

export const commentRecords = {
  type: 'array',
  items: {
    type: 'object',
    required: ['commentId', 'from', 'text', 'reactions', 'createdAt', 'lastUpdated'],
    properties: {
      commentId,
      from,
      text,
      reactions: {
        type: 'array',
        items: {
          type: 'object',
          required: ['reactionId', 'reaction', 'user', 'createdAt'],
          properties: { reactionId, reaction, user: notifiedUser, createdAt },
        },
      },
      createdAt,
      lastUpdated,
    },
  },
} as const

/** Schema of a suggestion with its outcome. */
export const suggestion = {
  type: 'object',
  required: ['status', 'content'],
  properties: {
    status: { type: 'string', enum: ['pending', 'accepted', 'rejected'] },
    content: { description: 'Null if not given.' },
  },
} as const

/** Schema of an annotation without its comments. */
export const annotationState = {
  type: 'object',
  required: [
    'annotationId',
    'documentId',
    'location',
    'anchor',
    'status',
    'priority',
    'assignedTo',
    'suggestion',
    'createdBy',
    'createdAt',
    'lastUpdated',
  ],
  properties: {
    annotationId,
    documentId,
    ...annotationContent,
    location: { anyOf: [location, { type: 'null' }] },
    anchor: { anyOf: [storedAnchor, { type: 'null' }] },
    suggestion: { anyOf: [suggestion, { type: 'null' }] },
    createdBy: notifiedUser,
    createdAt,
    lastUpdated: {
      ...lastUpdated,
      description: 'Epoch milliseconds of the last change of the annotation itself, without its comments.',
    },
  },
} as const

export const annotationRecords = {
  type: 'array',
  items: {
    type: 'object',
    required: [...annotationState.required, 'comments', 'commentCount'],
    properties: {
      ...annotationState.properties,
      anchorPlace: {
        anyOf: [anchorPlace, { type: 'null' }],
        description:
          'The text at which the anchor is now; null: the text was deleted. Absent: the annotation has no anchor, or ' +
          `the content is larger than ${anchorLimits.anchorDocumentBytes} bytes or cannot be read now. A response has the places in ` +
          `the first ${anchorLimits.anchorEditors} editors.`,
      },
      comments: {
        ...commentRecords,
        description:
          `The oldest ones: ${limits.commentsShown} at most, and no more than about ${limits.shownBytes} bytes. ` +
          '`comments/get` returns all.',
      },
      commentCount: { type: 'integer', description: 'Total number of comments.' },
    },
  },
} as const

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
