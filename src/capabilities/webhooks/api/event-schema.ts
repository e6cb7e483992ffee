import type { ObjectSchema, Schema } from '../../../core/base/schema.ts'
import { accessRoles } from '../../../core/directory/store/records.ts'
import { featureTypes } from '../../../core/events/activity.ts'
import { type EventType, eventTypes } from '../../../core/events/outbound-event.ts'
import { mapValues } from '../../../rest/openapi/schemas.ts'
import { activityContent } from '../../../rest/schemas/activity-schema.ts'
import { notifiedUser } from '../../../rest/schemas/user-schema.ts'
import { annotationState, commentRecords } from '../../comments/api/comment-schema.ts'
import { deliveryLimits } from '../deliveries/delivery-records.ts'

const text = { type: 'string' } as const
const id = { type: 'string', format: 'id' } as const

export const memberChange = {
  type: 'object',
  required: ['from', 'to'],
  properties: { from: {}, to: {} },
} as const satisfies ObjectSchema

const changes = {
  type: 'object',
  additionalProperties: memberChange,
  description: 'The old and the new value of each changed member; null: none.',
} as const

const emptyIfTooLarge =
  `Empty if the event is larger than ${deliveryLimits.eventBytes.toLocaleString('en')} bytes: then read the objects.` as const

/** Data of an event of a thread of comments. */
export const annotationEventData = {
  type: 'object',
  description: emptyIfTooLarge,
  properties: { annotation: annotationState, changes },
} as const satisfies ObjectSchema

export const commentEventData = {
  type: 'object',
  description: emptyIfTooLarge,
  properties: {
    annotation: annotationState,
    comment: { ...commentRecords.items, description: 'The comment; if it is deleted, its last state.' },
    changes,
  },
} as const satisfies ObjectSchema

const { targetEntityId, location, displayMessageTemplate, displayMessageTemplateData } = activityContent

export const activityEventData = {
  type: 'object',
  description: emptyIfTooLarge,
  properties: {
    activity: {
      type: 'object',
      required: ['id', 'featureType'],
      properties: {
        id,
        featureType: { type: 'string', enum: featureTypes },
        targetEntityId,
        location,
        changes: activityContent.changes,
        displayMessageTemplate,
        displayMessageTemplateData,
      },
    },
  },
} as const satisfies ObjectSchema

/** Data of a change of content, for endpoints of webhooks. */
export const contentEventData = {
  type: 'object',
  required: ['editorId'],
  properties: { editorId: id },
} as const satisfies ObjectSchema

/** Data of a change of content in the feed. */
export const feedContentData = {
  type: 'object',
  required: ['editorId', 'versionBefore', 'version', 'bytes', 'authors'],
  properties: {
    editorId: id,
    versionBefore: {
      anyOf: [text, { type: 'null' }],
      description: 'Version of the preceding event of the editor; null for the first one.',
    },
    version: text,
    bytes: { type: 'integer', description: 'Bytes of the updates.' },
    authors: {
      anyOf: [
        { type: 'array', items: { type: 'object', required: ['userId'], properties: { userId: text } } },
        { type: 'null' },
      ],
      description: 'Authors of the changes; null if they are not known.',
    },
  },
} as const satisfies ObjectSchema

/** Data of a deletion of content. */
export const deletionEventData = {
  type: 'object',
  required: ['editorId'],
  properties: { editorId: id },
} as const satisfies ObjectSchema

export const documentEventData = {
  type: 'object',
  required: ['documentId'],
  properties: { documentId: id },
} as const satisfies ObjectSchema

export const permissionEventData = {
  type: 'object',
  required: ['resource'],
  properties: {
    resource: {
      type: 'object',
      required: ['type', 'id'],
      properties: { type: { type: 'string', enum: ['organization', 'folder', 'document'] }, id },
    },
    user: {
      type: 'object',
      required: ['userId'],
      properties: { userId: id },
      description: 'The user; absent for a group.',
    },
    organizationUserGroupId: { ...id, description: 'The group; absent for a user.' },
    accessRole: { type: 'string', enum: accessRoles, description: 'Absent after the removal.' },
    expiresAt: {
      anyOf: [{ type: 'integer' }, { type: 'null' }],
      description: 'Epoch seconds; null: no expiry. Absent after the removal.',
    },
  },
} as const satisfies ObjectSchema

/** Data of a join or a leave. */
export const visitEventData = {
  type: 'object',
  required: ['user', 'source'],
  properties: {
    user: notifiedUser,
    kind: {
      type: 'string',
      enum: ['user', 'agent'],
      description: '`agent`: the user is a program. Absent in events of earlier versions.',
    },
    source: {
      type: 'string',
      enum: ['socket', 'rest'],
      description: '`rest`: a user whom a backend shows as present.',
    },
  },
} as const satisfies ObjectSchema

/** Data of a test event, which can have the type of any event. */
export const testEventData = {
  type: 'object',
  required: ['endpointId', 'test'],
  properties: { endpointId: text, test: { type: 'boolean', description: 'Always true.' } },
} as const satisfies ObjectSchema

/** Data of an event that failed permanently. */
export const failedDeliveryData = {
  type: 'object',
  required: ['endpointId', 'messageId', 'eventType', 'attempts', 'httpStatus'],
  properties: {
    endpointId: { ...text, description: 'The endpoint that did not get the event.' },
    messageId: text,
    eventType: text,
    attempts: { type: 'integer' },
    httpStatus: {
      anyOf: [{ type: 'integer' }, { type: 'null' }],
      description: 'Status of the last response; null if there was none.',
    },
  },
} as const satisfies ObjectSchema

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

export const eventMetadata = {
  type: 'object',
  required: ['apiKey', 'organizationId', 'documentId'],
  properties: {
    apiKey: text,
    organizationId: text,
    documentId: {
      anyOf: [text, { type: 'null' }],
      description: 'Null if the event belongs to the organization as a whole.',
    },
  },
} as const satisfies ObjectSchema

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
const payloadOf = (types: readonly EventType[], data: ObjectSchema): ObjectSchema => ({
  type: 'object',
  required: ['event', 'actionType', 'source', 'data', 'webhookId', 'timestamp'],
  properties: {
    event: { type: 'string', enum: types },
    actionType: { type: 'string', enum: types },
    source: { ...text, description: 'Product area of the event, such as `comment`.' },
    data:
      data === testEventData
        ? withOrigin(data)
        : { anyOf: [withOrigin(protectable(data)), withOrigin(testEventData)] },
    webhookId: { ...text, description: 'Unique id of the message. A repeated message has the same id.' },
    timestamp: { type: 'integer', description: 'Time of the event in epoch milliseconds.' },
  },
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
