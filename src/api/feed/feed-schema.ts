import { readingFormats } from '../../content/read-document.ts'
import { cursorLengthMax, type FeedStart } from '../../feed/feed-reader.ts'
import { organizationDeleted } from '../../feed/feed-removal.ts'
import type { FeedQuery } from '../../feed/feed-service.ts'
import { feedLimits } from '../../feed/limits.ts'
import { feedEventTypes } from '../../subscriptions/feed-config.ts'
import { contentKeySchema } from '../editor-content.ts'
import type { FromSchema } from '../schema.ts'
import { invalidAt } from '../validator.ts'

/** Types of the events of a feed. */
export const feedTypes: readonly string[] = [...feedEventTypes, organizationDeleted]

/** Formats in which an event can contain content. */
export const feedContentFormats = ['changes', ...readingFormats.filter((each) => each !== 'roots')] as const

/** Reasons why an event of a change has no content although it was requested. */
export const contentOmissions = ['superseded', 'deleted', 'too-large', 'unreadable', 'compacted'] as const

/** Members that select events and their form. */
export const feedSelection = {
  organizationId: { type: 'string', format: 'id', description: 'Only events of this organization.' },
  cursor: {
    type: 'string',
    maxLength: cursorLengthMax,
    description: 'Only events after this cursor, which is from an earlier response.',
  },
  from: {
    type: 'string',
    enum: ['oldest', 'latest', 'now'],
    default: 'oldest',
    description:
      'Where to start without a cursor: at the oldest event that the feed has, at the latest `pageSize` matching events, ' +
      'or after the last event.',
  },
  types: {
    type: 'array',
    maxItems: feedLimits.filter,
    items: { type: 'string', enum: feedTypes },
    description: 'Only events of these types.',
  },
  documentIds: {
    type: 'array',
    maxItems: feedLimits.filter,
    items: { type: 'string', format: 'id' },
    description: 'Only events of these documents.',
  },
  content: {
    type: 'string',
    enum: feedContentFormats,
    description:
      'Adds content to `crdt.update_data`. `changes`: the Yjs updates (V1) between the two versions. Other formats: the ' +
      'present content, as `/v2/crdt/get` returns it; if a response has several events of an editor, only the last one ' +
      'has it.',
  },
  contentKey: contentKeySchema,
} as const

export const feedRequest = {
  type: 'object',
  properties: {
    ...feedSelection,
    pageSize: {
      type: 'integer',
      minimum: 1,
      default: feedLimits.pageDefault,
      description: `Maximum number of events in the response. A number above ${feedLimits.page} stands for ${feedLimits.page}.`,
    },
    waitSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: feedLimits.waitSeconds,
      default: 0,
      description: 'Maximum time to wait for an event, if there is none yet.',
    },
  },
} as const

export type FeedRequest = FromSchema<typeof feedRequest>

const user = {
  type: 'object',
  required: ['userId'],
  properties: { userId: { type: 'string' }, name: { type: 'string' }, email: { type: 'string' } },
} as const

/** Schema of an event in a response. */
export const feedEvent = {
  type: 'object',
  required: ['id', 'cursor', 'type', 'at', 'organizationId', 'documentId', 'actionUser', 'data'],
  properties: {
    id: { type: 'string', description: 'Stable; an event that is delivered twice has the same id.' },
    cursor: { type: 'string', description: 'Continues after this event; opaque.' },
    type: { type: 'string' },
    at: { type: 'string', format: 'date-time', description: 'Time of the event.' },
    organizationId: { type: 'string' },
    documentId: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    actionUser: { ...user, description: 'The acting user; the id of the API key if the user is not known.' },
    data: {
      type: 'object',
      additionalProperties: {},
      description:
        '`crdt.update_data` has `editorId`, `versionBefore` (the version of the preceding event of the editor; null for ' +
        'the first one), `version`, `bytes` and `authors` (null if they are not known). Other types have the data of webhooks.',
    },
    content: {
      description: 'Only if it was requested; null if it is left out.',
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          required: ['version'],
          properties: {
            version: {
              type: 'string',
              description: 'The version that has this content; at least that of the event.',
            },
            data: { description: 'The content in the requested format.' },
            type: { type: 'string' },
            contentKey: { type: 'string' },
            updates: {
              type: 'array',
              items: { type: 'string', format: 'byte' },
              description:
                'Yjs updates (V1) in base64, in the order of the log; only with the format `changes`.',
            },
          },
        },
      ],
    },
    contentOmitted: {
      type: 'string',
      enum: contentOmissions,
      description: 'Why `content` is null.',
    },
  },
} as const

export const feedResponse = {
  type: 'object',
  required: ['events', 'cursor', 'isEnd'],
  properties: {
    events: { type: 'array', items: feedEvent },
    cursor: {
      type: 'string',
      description: 'Continues after all events that were read, also if none of them matched; opaque.',
    },
    isEnd: { type: 'boolean', description: 'True if the feed had no more matching events.' },
  },
} as const

export const feedConfigAnswer = {
  type: 'object',
  required: ['enabled', 'keepSeconds'],
  properties: {
    enabled: { type: 'boolean' },
    keepSeconds: {
      type: 'integer',
      description: `Time for which events are kept. There are at most ${feedLimits.entries.toLocaleString('en')} events.`,
    },
  },
} as const

/** Errors of a read of the feed. */
export const feedErrors = [
  { status: 'FAILED_PRECONDITION', code: 'feed/disabled', when: 'the feed is off' },
  {
    status: 'FAILED_PRECONDITION',
    code: 'feed/cursor-expired',
    when: 'the feed no longer has the events after the cursor',
  },
  {
    status: 'FAILED_PRECONDITION',
    code: 'feed/cursor-unknown',
    when: 'the feed does not know the cursor, for example because the store was replaced by another copy',
  },
] as const

/**
 * Returns the query of a request.
 * @throws ApiError INVALID_ARGUMENT for `from: "latest"` or `from: "now"` with a cursor
 */
export function feedQueryOf({
  cursor,
  from = 'oldest',
  organizationId,
  types,
  documentIds,
  pageSize = feedLimits.pageDefault,
}: FeedRequest): FeedQuery {
  if (cursor !== undefined && from !== 'oldest')
    throw invalidAt({ path: '/data/from', message: `must not be "${from}" with a cursor` })
  const start: FeedStart = cursor === undefined ? from : { cursor }
  return { start, organizationId, types, documentIds, limit: Math.min(pageSize, feedLimits.page) }
}
