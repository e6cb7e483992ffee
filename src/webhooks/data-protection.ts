import type { ActionUser } from '../events/activity.ts'
import { type EventType, eventTypes, type OutboundEvent } from '../events/outbound-event.ts'
import { idProblem } from '../model/address.ts'

/** What of a value may be shown; undefined: nothing. */
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
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? shown(value as Readonly<Record<string, unknown>>, shapes)
      : undefined

const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) ? value.map(shape).filter((each) => each !== undefined) : undefined

/** Null says that there is nothing, and stays. */
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
/** Of an event that has not happened: who does not know that would take it for one that has. */
const trial = { endpointId: id, test: (value: unknown) => (value === true ? value : undefined) }
const visits = { user, source: oneOf('socket', 'rest') }

/** By type, what of an event's data is no name, e-mail address or content. What is not listed is left out. */
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
  'document.create': documents,
  'document.delete': documents,
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

/** Data protection: the event with ids, times and words of our own, and nothing that people have written or are called. */
export const redactEvent = <E extends OutboundEvent>(event: E): E => ({
  ...event,
  actionUser: redactUser(event.actionUser),
  data: shown(event.data, { ...trial, ...showable[event.type] }),
})

export const redactUser = ({ userId }: ActionUser): ActionUser => ({ userId })
