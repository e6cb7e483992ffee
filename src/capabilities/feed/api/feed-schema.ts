import { type FromSchema, json, type ObjectSchema, type Schema } from '../../../core/base/schema.ts'
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
import { feedEventTypes } from '../../webhooks/webhook-records.ts'
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
  organizationId: json.id('Only events of this organization.'),
  cursor: json.text('Only events after this cursor, which is from an earlier response.', {
    maxLength: cursorLengthMax,
  }),
  from: json.choice(
    ['oldest', 'now'],
    'Where to start without a cursor: at the oldest event that the feed has, or after the last event.',
    { default: 'oldest' },
  ),
  types: json.list(json.choice(feedTypes), {
    maxItems: feedLimits.filter,
    description: 'Only events of these types.',
  }),
  documentIds: json.list(json.id(), {
    maxItems: feedLimits.filter,
    description: 'Only events of these documents.',
  }),
  content: json.choice(
    feedContentFormats,
    'Adds content to `crdt.update_data`. `changes`: the Yjs updates (V1) between the two versions. Other formats: the ' +
      'present content, as `/v2/crdt/get` returns it; if a response has several events of an editor, only the last one ' +
      'has it.',
  ),
  contentKey: contentKeySchema,
} as const

export const feedRequest = json.object(
  {},
  {
    ...feedSelection,
    pageSize: json.integer(
      `Maximum number of events in the response. A number above ${feedLimits.page} stands for ${feedLimits.page}.`,
      { minimum: 1, default: feedLimits.pageDefault },
    ),
    waitSeconds: json.integer('Maximum time to wait for an event, if there is none yet.', {
      minimum: 0,
      maximum: feedLimits.waitSeconds,
      default: 0,
    }),
  },
)

export type FeedRequest = FromSchema<typeof feedRequest>

const feedData = json.map(
  {},
  { description: 'Data of the event; `crdt.update_data` has other data than in webhooks.' },
)

/** Members of an event in a response. */
const feedEventBase = json.object({
  id: json.text('Stable; an event that is delivered twice has the same id.'),
  cursor: json.text('Continues after this event; opaque.'),
  type: json.text(),
  at: json.time('Time of the event.'),
  organizationId: json.text(),
  documentId: json.orNull(json.text()),
  actionUser: {
    ...notifiedUser,
    description: 'The acting user; the id of the API key if the user is not known.',
  },
  data: feedData,
})

/** Members of a change of content, in addition to those of other events. */
const feedContent = {
  content: json.orNull(
    json.object(
      { version: json.text('The version that has this content; at least that of the event.') },
      {
        data: { description: 'The content in the requested format.' },
        type: json.text(),
        contentKey: json.text(),
        updates: json.list(json.bytes(), {
          description: 'Yjs updates (V1) in base64, in the order of the log; only with the format `changes`.',
        }),
      },
    ),
    'Only if it was requested; null if it is left out.',
  ),
  contentOmitted: json.choice(contentOmissions, 'Why `content` is null.'),
} as const

const feedEventOf = (types: readonly string[], data: ObjectSchema): ObjectSchema => ({
  ...feedEventBase,
  properties: {
    ...feedEventBase.properties,
    type: json.choice(types),
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
  FeedOrganizationEvent: feedEventOf([organizationDeleted], json.object({})),
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

export const feedResponse = json.object({
  events: json.list(feedEvent),
  cursor: json.text('Continues after all events that were read, also if none of them matched; opaque.'),
  isEnd: json.boolean('True if the feed had no more matching events.'),
})

export const feedConfigAnswer = json.object({
  enabled: json.boolean(),
  keepSeconds: json.integer(
    `Time for which events are kept. There are at most ${feedLimits.entries.toLocaleString('en')} events.`,
  ),
})

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
