import { randomUUID } from 'node:crypto'
import type { ActionUser, ActivityEvent, ActivityLocation } from '../../core/events/activity.ts'
import type { DomainEvent } from '../../core/events/event-recorder.ts'
import { type EventType, eventTypes } from '../../core/events/outbound-event.ts'
import { quotingTemplates } from './comment-quotes.ts'
import {
  type AnnotationLocation,
  type AnnotationRecord,
  type CommentRecord,
  withoutOrder,
} from './comment-records.ts'
import { commentLimits as limits } from './limits.ts'

/** The old and the new value of a member. */
export interface FieldChange {
  readonly from: unknown
  readonly to: unknown
}

/** Old and new values of the changed members, by the name of the member. */
export type ChangedFields = Readonly<Record<string, FieldChange>>

/**
 * Message templates of the activities, by action. If an action is not an event type, only its activity is
 * recorded.
 */
const templates = {
  'comment_annotation.add': '{{actionUser}} started a thread',
  'comment_annotation.update': '{{actionUser}} changed a thread',
  'comment_annotation.delete': '{{actionUser}} deleted a thread',
  'comment_annotation.assign': '{{actionUser}} assigned a thread to {{to}}',
  'comment_annotation.status_change': '{{actionUser}} set a thread to {{to}}',
  'comment_annotation.priority_change': '{{actionUser}} set the priority of a thread to {{to}}',
  'comment_annotation.suggestion_accept': '{{actionUser}} accepted a suggestion',
  'comment_annotation.suggestion_reject': '{{actionUser}} rejected a suggestion',
  'comment.add': quotingTemplates['comment.add'].quoting,
  'comment.update': quotingTemplates['comment.update'].quoting,
  'comment.delete': '{{actionUser}} deleted a comment',
  'comment.reaction_add': '{{actionUser}} reacted with {{to}}',
  'comment.reaction_delete': '{{actionUser}} took back the reaction {{from}}',
} as const

export type CommentAction = keyof typeof templates

/** An action of a user on an annotation. */
export interface AnnotationAction {
  readonly action: CommentAction
  readonly actionUser: ActionUser
  /** The annotation after the action. If the action deletes the annotation, its state before the action. */
  readonly annotation: AnnotationRecord
  /** The comment after the action. If the action deletes the comment, its state before the action. */
  readonly comment?: CommentRecord
  readonly changes?: ChangedFields
  /** Id of the activity that will record this action. Present only if this activity quotes the comment. */
  readonly quotedBy?: string
}

/** Returns the activity and the outgoing event that record an action. */
export const annotationEvent = (happening: AnnotationAction): DomainEvent => ({
  activity: activityOf(happening),
  outbound: outboundOf(happening),
})

/**
 * Returns an outgoing event without an activity. Used for parts of an action that has one activity for all
 * its parts.
 */
export const outboundOnlyEvent = (happening: AnnotationAction): DomainEvent => ({
  activity: null,
  outbound: outboundOf(happening),
})

function activityOf(happening: AnnotationAction): ActivityEvent {
  const { action, actionUser, annotation, comment, changes, quotedBy = randomUUID() } = happening
  const quoted = changes === undefined ? undefined : quotedChanges(changes, action)
  const [change] = Object.values(quoted ?? {})
  return {
    id: quotedBy,
    documentId: annotation.documentId,
    featureType: action.startsWith('comment.reaction') ? 'reaction' : 'comment',
    actionType: action,
    actionUser,
    targetEntityId: annotation.annotationId,
    ...(annotation.location !== null && { location: shortLocation(annotation.location) }),
    ...(quoted !== undefined && {
      changes: { ...(comment !== undefined && { commentId: comment.commentId }), ...quoted },
    }),
    displayMessageTemplate: templates[action],
    displayMessageTemplateData: { actionUser, ...change },
  }
}

function outboundOf({
  action,
  actionUser,
  annotation,
  comment,
  changes,
}: AnnotationAction): DomainEvent['outbound'] {
  if (!isEvent(action)) return null
  const data = {
    annotation: withoutOrder(annotation),
    ...(comment !== undefined && { comment: withoutOrder(comment) }),
    ...(changes !== undefined && { changes }),
  }
  return { type: action, documentId: annotation.documentId, actionUser, data }
}

const isEvent = (action: string): action is EventType => (eventTypes as readonly string[]).includes(action)

/**
 * Returns the changes with long texts truncated, because lists of activities have thousands of entries.
 * Leaves out the previous text of a changed comment.
 */
const quotedChanges = (
  changes: ChangedFields,
  action: CommentAction,
): Readonly<Record<string, Partial<FieldChange>>> =>
  Object.fromEntries(
    Object.entries(changes).map(([name, { from, to }]) => [
      name,
      action === 'comment.update' ? { to: quote(to) } : { from: quote(from), to: quote(to) },
    ]),
  )

function quote(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= limits.quotedCharacters) return value
  // A high surrogate at the end is half of a character, so it is removed.
  return `${value.slice(0, limits.quotedCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Returns the id and the name of a location, without members that callers have added. */
const shortLocation = ({ id, locationName }: AnnotationLocation): ActivityLocation => ({
  id,
  ...(locationName !== undefined && { locationName }),
})
