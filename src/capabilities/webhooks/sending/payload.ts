import { isJsonObject } from '../../../core/base/json.ts'
import { accessRoles } from '../../../core/directory/store/records.ts'
import type { ActionUser } from '../../../core/events/activity.ts'
import {
  type EventType,
  eventTypes,
  type OutboundEvent,
  type QueuedEvent,
} from '../../../core/events/outbound-event.ts'
import { idProblem } from '../../../core/model/address.ts'
import type { NotificationConfig } from '../../notifications/notification-records.ts'
import type { EventContent } from './event-content.ts'

/** Returns the part of a value that may be sent; undefined if nothing may be sent. */
type Shape = (value: unknown) => unknown

const id: Shape = (value) => (idProblem(value) === null ? value : undefined)
const count: Shape = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const time: Shape = (value) => (typeof value === 'string' && isoTime.test(value) ? value : count(value))
const oneOf =
  (...values: readonly string[]): Shape =>
  (value) =>
    values.find((each) => each === value)

const members =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    isJsonObject(value) ? shown(value, shapes) : undefined

const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) ? value.map(shape).filter((each) => each !== undefined) : undefined

/**
 * Returns the parts of an object that may be sent. Members that are null stay null, because null means that
 * there is no value.
 */
function shown(
  value: Readonly<Record<string, unknown>>,
  shapes: Readonly<Record<string, Shape>>,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(shapes)
    .filter(([name]) => Object.hasOwn(value, name))
    .map(([name, shape]) => [name, value[name] === null ? null : shape(value[name])] as const)
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined))
}

const user = members({ userId: id })
const status = oneOf('open', 'resolved')
const suggestionStatus = oneOf('pending', 'accepted', 'rejected')
const times = { createdAt: time, lastUpdated: time }
const changeOf = (shape: Shape): Shape => members({ from: shape, to: shape })

const reaction = members({ reactionId: id, user, createdAt: time })
const comment = members({ commentId: id, from: user, reactions: listOf(reaction), ...times })
const annotation = members({
  annotationId: id,
  documentId: id,
  location: members({ id }),
  anchor: members({ editorId: id }),
  status,
  assignedTo: user,
  suggestion: members({ status: suggestionStatus }),
  createdBy: user,
  comments: listOf(comment),
  ...times,
})
const comments = {
  annotation,
  comment,
  changes: members({
    status: changeOf(status),
    assignedTo: changeOf(user),
    suggestion: changeOf(suggestionStatus),
  }),
}
const activities = { activity: members({ id, targetEntityId: id }) }
const documents = { documentId: id }
const permissions = {
  resource: members({ type: oneOf('organization', 'folder', 'document'), id }),
  user,
  organizationUserGroupId: id,
  accessRole: oneOf(...accessRoles),
  expiresAt: count,
}
/**
 * The members that mark a test event. They must stay: without them, a receiver would take a test for a real
 * event.
 */
const trial = { endpointId: id, test: (value: unknown) => (value === true ? value : undefined) }
const visits = { user, kind: oneOf('user', 'agent'), source: oneOf('socket', 'rest') }

/**
 * For each event type, the members of its data that may be sent: they contain no names, e-mail addresses or
 * content. All other members are removed.
 */
const showable: Readonly<Record<EventType, Readonly<Record<string, Shape>>>> = {
  'comment_annotation.add': comments,
  'comment_annotation.assign': comments,
  'comment_annotation.status_change': comments,
  'comment_annotation.priority_change': comments,
  'comment_annotation.suggestion_accept': comments,
  'comment_annotation.suggestion_reject': comments,
  'comment.add': comments,
  'comment.update': comments,
  'comment.delete': comments,
  'comment.reaction_add': comments,
  'comment.reaction_delete': comments,
  'huddle.create': activities,
  'huddle.join': activities,
  'recorder.done': activities,
  'crdt.update_data': { editorId: id },
  'crdt.delete_data': { editorId: id },
  'document.create': documents,
  'document.delete': documents,
  'permission.add': permissions,
  'permission.update': permissions,
  'permission.delete': permissions,
  'presence.join': visits,
  'presence.leave': visits,
  'webhook.test': {},
  'message.attempt.exhausted': {
    endpointId: id,
    messageId: id,
    eventType: oneOf(...eventTypes),
    attempts: count,
    httpStatus: count,
  },
}

/**
 * Reduces an event to ids, times and words that Weft defines. Removes all texts, and all names and e-mail
 * addresses of users.
 */
const redactEvent = <E extends OutboundEvent>(event: E): E => ({
  ...event,
  actionUser: redactUser(event.actionUser),
  data: shown(event.data, { ...trial, ...showable[event.type] }),
})

const redactUser = ({ userId }: ActionUser): ActionUser => ({ userId })

/** A user whom an event concerns, with the notification config that applies to the user. */
export interface Recipient extends ActionUser {
  readonly notificationConfig: Required<NotificationConfig>
}

/** How much of an event a payload contains. `protected`: no names, e-mail addresses or content. */
type Detail = 'whole' | 'protected'

/** The input from which a payload is built: an event, and the id of its message. */
export interface PayloadInput {
  /** Id of the message, which is also the header `webhook-id`. It is the same in every attempt. */
  readonly webhookId: string
  readonly event: QueuedEvent
  readonly detail: Detail
}

/**
 * Returns the payload for the raw URL of the basic service. `timestamp` is the time of the event in epoch
 * milliseconds.
 */
export function basicPayload({ webhookId, event, detail }: PayloadInput) {
  const { type, actionUser, data, at } = detailed(event, detail)
  return {
    webhookId,
    actionType: type,
    notificationSource: sourceOf(type),
    actionUser,
    metadata: metadataOf(event),
    timestamp: at,
    data,
  }
}

/** Returns the payload for the processed URL of the basic service: the raw payload with recipients. */
export const processedPayload = (input: PayloadInput, recipients: readonly Recipient[]) => ({
  ...basicPayload(input),
  recipients: input.detail === 'whole' ? recipients : recipients.map(protectedRecipient),
})

/**
 * Returns the payload for advanced endpoints. The acting user and the ids are in `data`, next to the data of
 * the event.
 */
export function advancedPayload({ webhookId, event, detail }: PayloadInput) {
  const { type, actionUser, data, at } = detailed(event, detail)
  return {
    event: type,
    actionType: type,
    source: sourceOf(type),
    data: { ...data, actionUser, metadata: metadataOf(event) },
    webhookId,
    timestamp: at,
  }
}

export type AdvancedPayload = ReturnType<typeof advancedPayload>

/** Returns the payload of the callback `store`. `timestamp` is the time of the event in epoch milliseconds. */
export const storePayload = (event: QueuedEvent, content: EventContent) => ({
  callback: 'store',
  apiKey: event.scope.apiKey,
  organizationId: event.scope.organizationId,
  documentId: event.documentId,
  editorId: event.data.editorId,
  ...content,
  timestamp: event.at,
})

const detailed = (event: QueuedEvent, detail: Detail): QueuedEvent =>
  detail === 'whole' ? event : redactEvent(event)

const protectedRecipient = ({ notificationConfig, ...user }: Recipient): Recipient => ({
  ...redactUser(user),
  notificationConfig,
})

const metadataOf = ({ scope, documentId }: QueuedEvent) => ({
  apiKey: scope.apiKey,
  organizationId: scope.organizationId,
  documentId,
})

/**
 * Returns the product area of an event type: `comment`, `huddle`, `recorder`, `crdt`, `document`,
 * `permission`, `presence` or `webhook`.
 */
function sourceOf(type: EventType): string {
  const [first = ''] = type.split(/[._]/)
  return first === 'message' ? 'webhook' : first
}
