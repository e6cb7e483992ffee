import type { FromSchema, ObjectSchema, Schema } from '../../../core/base/schema.ts'
import { readingFormats } from '../../../core/content/read-document.ts'
import { contentKeySchema } from '../../../rest/schemas/resource-schema.ts'
import { notifiedUser } from '../../../rest/schemas/user-schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import {
  activityEventData,
  annotationEventData,
  commentEventData,
  deletionEventData,
  documentEventData,
  eventGroups,
  feedContentData,
  permissionEventData,
  visitEventData,
} from '../../webhooks/api/event-schema.ts'
import { feedEventTypes } from '../../webhooks/feed-config.ts'
import { cursorLengthMax, type FeedPage, type FeedStart } from '../feed-reader.ts'
import { organizationDeleted } from '../feed-removal.ts'
import type { FeedQuery } from '../feed-service.ts'
import { feedLimits } from '../limits.ts'

const feedTypes: readonly string[] = [...feedEventTypes, organizationDeleted]

/** Formats in which an event can contain content. */
const feedContentFormats = ['changes', ...readingFormats.filter((each) => each !== 'roots')] as const

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
    enum: ['oldest', 'now'],
    default: 'oldest',
    description:
      'Where to start without a cursor: at the oldest event that the feed has, or after the last event.',
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

const feedData = {
  type: 'object',
  additionalProperties: {},
  description: 'Data of the event; `crdt.update_data` has other data than in webhooks.',
} as const

/** Members of an event in a response. */
const feedEventBase = {
  type: 'object',
  required: ['id', 'cursor', 'type', 'at', 'organizationId', 'documentId', 'actionUser', 'data'],
  properties: {
    id: { type: 'string', description: 'Stable; an event that is delivered twice has the same id.' },
    cursor: { type: 'string', description: 'Continues after this event; opaque.' },
    type: { type: 'string' },
    at: { type: 'string', format: 'date-time', description: 'Time of the event.' },
    organizationId: { type: 'string' },
    documentId: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    actionUser: {
      ...notifiedUser,
      description: 'The acting user; the id of the API key if the user is not known.',
    },
    data: feedData,
  },
} as const

/** Members of a change of content, in addition to those of other events. */
const feedContent = {
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
} as const

const feedEventOf = (types: readonly string[], data: ObjectSchema): ObjectSchema => ({
  ...feedEventBase,
  properties: {
    ...feedEventBase.properties,
    type: { type: 'string', enum: types },
    data,
    ...(data === feedContentData && feedContent),
  },
})

const withData = (data: ObjectSchema): ObjectSchema =>
  feedEventOf(eventGroups.find((group) => group.data === data)?.types ?? [], data)

/** Schemas of the events in a response, by the names of their types in the package. */
export const feedEvents: Readonly<Record<string, ObjectSchema>> = {
  FeedContentEvent: feedEventOf(['crdt.update_data'], feedContentData),
  FeedDeletionEvent: withData(deletionEventData),
  FeedAnnotationEvent: withData(annotationEventData),
  FeedCommentEvent: withData(commentEventData),
  FeedActivityEvent: withData(activityEventData),
  FeedDocumentEvent: withData(documentEventData),
  FeedPermissionEvent: withData(permissionEventData),
  FeedVisitEvent: withData(visitEventData),
  FeedOrganizationEvent: feedEventOf([organizationDeleted], { type: 'object', properties: {} }),
}

/** Type of the values of `feedEvents`. The feed reads events from the store, so the type does not depend on `type`. */
export interface FeedEventUnion {
  readonly anyOf: readonly {
    readonly type: 'object'
    readonly required: readonly (typeof feedEventBase.required)[number][]
    readonly properties: typeof feedEventBase.properties & typeof feedContent
  }[]
}

const feedEventSchema: Schema = { anyOf: Object.values(feedEvents) }
/** Schema of an event in a response. */
export const feedEvent = feedEventSchema as FeedEventUnion

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

export const feedErrors = [
  { code: 'feed/disabled', when: 'the feed is off' },
  { code: 'feed/cursor-expired', when: 'the feed no longer has the events after the cursor' },
  {
    code: 'feed/cursor-unknown',
    when: 'the feed does not know the cursor, for example because the store was replaced by another copy',
  },
] as const

/** Returns the number of calls that a page counts as, in addition to its own call. */
export const furtherCalls = ({ scanned }: FeedPage): number =>
  Math.max(0, Math.ceil(scanned / feedLimits.scannedPerCall) - 1)

/**
 * Returns the query of a request.
 * @throws ApiError INVALID_ARGUMENT for `from: "now"` with a cursor
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
