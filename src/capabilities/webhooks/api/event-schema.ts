import { json, type ObjectSchema, type Schema } from '../../../core/base/schema.ts'
import { accessRoles } from '../../../core/directory/store/records.ts'
import { featureTypes } from '../../../core/events/activity.ts'
import { type EventType, eventTypes } from '../../../core/events/outbound-event.ts'
import { mapValues } from '../../../rest/openapi/schemas.ts'
import { activityContent } from '../../../rest/schemas/activity-schema.ts'
import { notifiedUser } from '../../../rest/schemas/user-schema.ts'
import { annotationState, commentRecords } from '../../comments/api/comment-schema.ts'
import { deliveryLimits } from '../deliveries/delivery-records.ts'

const text = json.text()
const id = json.id()

export const memberChange = json.object({ from: {}, to: {} })

const changes = json.map(memberChange, {
  description: 'The old and the new value of each changed member; null: none.',
})

const emptyIfTooLarge =
  `Empty if the event is larger than ${deliveryLimits.eventBytes.toLocaleString('en')} bytes: then read the objects.` as const

/** Data of an event of a thread of comments. */
export const annotationEventData = json.object(
  {},
  { annotation: annotationState, changes },
  { description: emptyIfTooLarge },
)

export const commentEventData = json.object(
  {},
  {
    annotation: annotationState,
    comment: { ...commentRecords.items, description: 'The comment; if it is deleted, its last state.' },
    changes,
  },
  { description: emptyIfTooLarge },
)

const { targetEntityId, location, displayMessageTemplate, displayMessageTemplateData } = activityContent

export const activityEventData = json.object(
  {},
  {
    activity: json.object(
      { id, featureType: json.choice(featureTypes) },
      {
        targetEntityId,
        location,
        changes: activityContent.changes,
        displayMessageTemplate,
        displayMessageTemplateData,
      },
    ),
  },
  { description: emptyIfTooLarge },
)

/** Data of a change of content, for endpoints of webhooks. */
export const contentEventData = json.object({ editorId: id })

/** Data of a change of content in the feed. */
export const feedContentData = json.object({
  editorId: id,
  versionBefore: json.orNull(text, 'Version of the preceding event of the editor; null for the first one.'),
  version: text,
  bytes: json.integer('Bytes of the updates.'),
  authors: json.orNull(
    json.list(json.object({ userId: text })),
    'Authors of the changes; null if they are not known.',
  ),
})

/** Data of a deletion of content. */
export const deletionEventData = json.object({ editorId: id })

export const documentEventData = json.object({ documentId: id })

export const permissionEventData = json.object(
  { resource: json.object({ type: json.choice(['organization', 'folder', 'document']), id }) },
  {
    user: json.object({ userId: id }, {}, { description: 'The user; absent for a group.' }),
    organizationUserGroupId: { ...id, description: 'The group; absent for a user.' },
    accessRole: json.choice(accessRoles, 'Absent after the removal.'),
    expiresAt: json.orNull(json.integer(), 'Epoch seconds; null: no expiry. Absent after the removal.'),
  },
)

/** Data of a join or a leave. */
export const visitEventData = json.object(
  {
    user: notifiedUser,
    source: json.choice(['socket', 'rest'], '`rest`: a user whom a backend shows as present.'),
  },
  {
    kind: json.choice(
      ['user', 'agent'],
      '`agent`: the user is a program. Absent in events of earlier versions.',
    ),
  },
)

/** Data of a test event, which can have the type of any event. */
export const testEventData = json.object({ endpointId: text, test: json.boolean('Always true.') })

/** Data of an event that failed permanently. */
export const failedDeliveryData = json.object({
  endpointId: { ...text, description: 'The endpoint that did not get the event.' },
  messageId: text,
  eventType: text,
  attempts: json.integer(),
  httpStatus: json.orNull(json.integer(), 'Status of the last response; null if there was none.'),
})

/** Schema of the data of each type of events, as the event is recorded. */
export const eventData = {
  'comment_annotation.add': annotationEventData,
  'comment_annotation.assign': annotationEventData,
  'comment_annotation.status_change': annotationEventData,
  'comment_annotation.priority_change': annotationEventData,
  'comment_annotation.suggestion_accept': annotationEventData,
  'comment_annotation.suggestion_reject': annotationEventData,
  'comment.add': commentEventData,
  'comment.update': commentEventData,
  'comment.delete': commentEventData,
  'comment.reaction_add': commentEventData,
  'comment.reaction_delete': commentEventData,
  'huddle.create': activityEventData,
  'huddle.join': activityEventData,
  'recorder.done': activityEventData,
  'crdt.update_data': contentEventData,
  'crdt.delete_data': deletionEventData,
  'document.create': documentEventData,
  'document.delete': documentEventData,
  'permission.add': permissionEventData,
  'permission.update': permissionEventData,
  'permission.delete': permissionEventData,
  'presence.join': visitEventData,
  'presence.leave': visitEventData,
  'webhook.test': testEventData,
  'message.attempt.exhausted': failedDeliveryData,
} as const satisfies Readonly<Record<EventType, ObjectSchema>>

export const eventMetadata = json.object({
  apiKey: text,
  organizationId: text,
  documentId: json.orNull(text, 'Null if the event belongs to the organization as a whole.'),
})

/** Names of the required members that data protection removes. */
export const protectedMembers: readonly string[] = [
  'content',
  'contentKey',
  'featureType',
  'position',
  'priority',
  'reaction',
  'text',
]

/** Returns a schema that also accepts values from which data protection has removed members. */
function protectable<S extends Schema>(schema: S): S
function protectable(schema: Schema): Schema {
  if (schema.type === undefined)
    return schema.anyOf === undefined
      ? schema
      : { ...schema, anyOf: schema.anyOf.map((each) => protectable(each)) }
  if (schema.type === 'array') return { ...schema, items: protectable(schema.items) }
  if (schema.type !== 'object' || schema.properties === undefined) return schema
  return {
    ...schema,
    required: (schema.required ?? []).filter((name) => !protectedMembers.includes(name)),
    properties: mapValues(schema.properties, (each) => protectable(each)),
  }
}

/** Returns the schema of the body that endpoints of webhooks get for events with data of one schema. */
const payloadOf = (types: readonly EventType[], data: ObjectSchema): ObjectSchema =>
  json.object({
    event: json.choice(types),
    actionType: json.choice(types),
    source: { ...text, description: 'Product area of the event, such as `comment`.' },
    data:
      data === testEventData
        ? withOrigin(data)
        : { anyOf: [withOrigin(protectable(data)), withOrigin(testEventData)] },
    webhookId: { ...text, description: 'Unique id of the message. A repeated message has the same id.' },
    timestamp: json.integer('Time of the event in epoch milliseconds.'),
  })

const withOrigin = (data: ObjectSchema): ObjectSchema => ({
  ...data,
  required: [...(data.required ?? []), 'actionUser', 'metadata'],
  properties: { ...data.properties, actionUser: notifiedUser, metadata: eventMetadata },
})

/** Types of the events that have the same schema of data. */
interface EventGroup {
  readonly types: readonly EventType[]
  readonly data: ObjectSchema
  /** Schema of the body of a request to an endpoint. */
  readonly payload: ObjectSchema
}

/** The types of events, grouped by the schema of their data. */
export const eventGroups: readonly EventGroup[] = [...new Set<ObjectSchema>(Object.values(eventData))].map(
  (data) => {
    const types = eventTypes.filter((type) => eventData[type] === data)
    return { types, data, payload: payloadOf(types, data) }
  },
)
