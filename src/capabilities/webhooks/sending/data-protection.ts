import { isJsonObject } from '../../../core/base/json.ts'
import { accessRoles } from '../../../core/directory/store/records.ts'
import type { ActionUser } from '../../../core/events/activity.ts'
import { eventTypes, type OutboundEvent } from '../../../core/events/outbound-event.ts'
import { idProblem } from '../../../core/model/address.ts'

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

/** An object, or a list of objects. */
const members: Shape = (value) => {
  if (Array.isArray(value)) return value.map(members).filter((each) => each !== undefined)
  return isJsonObject(value) ? shown(value) : undefined
}

const state = oneOf('open', 'resolved', 'pending', 'accepted', 'rejected')
/** A state, a user, or the old and the new value of a change. */
const stateOrMembers: Shape = (value) => state(value) ?? members(value)

const named = (shape: Shape, ...names: readonly string[]) => names.map((name) => [name, shape] as const)

/**
 * The members of the data of events that may be sent, by name: ids, times, and words that Weft defines. All other
 * members are removed.
 */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ...named(id, 'id', 'annotationId', 'commentId', 'documentId', 'editorId', 'endpointId', 'messageId'),
  ...named(id, 'organizationUserGroupId', 'reactionId', 'targetEntityId', 'userId'),
  ...named(time, 'createdAt', 'lastUpdated'),
  ...named(count, 'attempts', 'expiresAt', 'httpStatus'),
  ...named(oneOf(...accessRoles), 'accessRole'),
  ...named(oneOf(...eventTypes), 'eventType'),
  ...named(oneOf('user', 'agent'), 'kind'),
  ...named(oneOf('socket', 'rest'), 'source'),
  ...named(oneOf('organization', 'folder', 'document'), 'type'),
  // Marks a test event. Without it, a receiver would take a test for a real event.
  ...named((value) => (value === true ? value : undefined), 'test'),
  ...named(stateOrMembers, 'status', 'from', 'to'),
  ...named(members, 'activity', 'anchor', 'annotation', 'assignedTo', 'changes', 'comment', 'comments'),
  ...named(members, 'createdBy', 'location', 'reactions', 'resource', 'suggestion', 'user'),
])

/** Returns the members that may be sent. Null stays null, because it means that there is no value. */
function shown(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value).map(
    ([name, member]) =>
      [name, member === null && shapes.has(name) ? null : shapes.get(name)?.(member)] as const,
  )
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined))
}

/**
 * Reduces an event to ids, times and words that Weft defines. Removes all texts, and all names and e-mail
 * addresses of users.
 */
export const redactEvent = <E extends OutboundEvent>(event: E): E => ({
  ...event,
  actionUser: redactUser(event.actionUser),
  data: shown(event.data),
})

export const redactUser = ({ userId }: ActionUser): ActionUser => ({ userId })
