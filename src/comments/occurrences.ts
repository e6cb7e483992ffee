import { randomUUID } from 'node:crypto'
import { type AnnotationRecord, type CommentRecord, withoutOrder } from '../directory/comment-records.ts'
import type { ActionUser, ActivityEvent } from '../events/activity.ts'
import type { Occurrence } from '../events/events.ts'
import { type EventType, eventTypes } from '../events/outbound.ts'
import { commentLimits as limits } from './limits.ts'

/** How what a member was, and has become, is told. */
export interface Change {
  readonly from: unknown
  readonly to: unknown
}

/** Members that differ, by name. */
export type Changes = Readonly<Record<string, Change>>

/** How activities are shown; those whose type is no event for receivers outside are for activities alone. */
const templates = {
  'comment_annotation.add': '{{actionUser}} started a thread',
  'comment_annotation.update': '{{actionUser}} changed a thread',
  'comment_annotation.delete': '{{actionUser}} deleted a thread',
  'comment_annotation.assign': '{{actionUser}} assigned a thread to {{to}}',
  'comment_annotation.status_change': '{{actionUser}} set a thread to {{to}}',
  'comment_annotation.priority_change': '{{actionUser}} set the priority of a thread to {{to}}',
  'comment_annotation.suggestion_accept': '{{actionUser}} accepted a suggestion',
  'comment_annotation.suggestion_reject': '{{actionUser}} rejected a suggestion',
  'comment.add': '{{actionUser}} commented: {{to}}',
  'comment.update': '{{actionUser}} changed a comment: {{to}}',
  'comment.delete': '{{actionUser}} deleted a comment',
  'comment.reaction_add': '{{actionUser}} reacted with {{to}}',
  'comment.reaction_delete': '{{actionUser}} took back the reaction {{from}}',
} as const

export type CommentAction = keyof typeof templates

/** One thing that somebody has done to an annotation. */
export interface Happening {
  readonly action: CommentAction
  readonly actionUser: ActionUser
  /** As it is afterwards; as it was when it is deleted. */
  readonly annotation: AnnotationRecord
  /** The same of the comment that it was done to. */
  readonly comment?: CommentRecord
  readonly changes?: Changes
}

/** What is kept and told of what somebody has done. */
export const occurrenceOf = (happening: Happening): Occurrence => ({
  activity: activityOf(happening),
  outbound: outboundOf(happening),
})

/** What is told outside only: a part of something of which there is an activity as a whole. */
export const toldOnly = (happening: Happening): Occurrence => ({
  activity: null,
  outbound: outboundOf(happening),
})

function activityOf({ action, actionUser, annotation, comment, changes }: Happening): ActivityEvent {
  const quoted = changes === undefined ? undefined : quotedChanges(changes)
  const [change] = Object.values(quoted ?? {})
  return {
    id: randomUUID(),
    documentId: annotation.documentId,
    featureType: action.startsWith('comment.reaction') ? 'reaction' : 'comment',
    actionType: action,
    actionUser,
    targetEntityId: annotation.annotationId,
    ...(quoted !== undefined && {
      changes: { ...(comment !== undefined && { commentId: comment.commentId }), ...quoted },
    }),
    displayMessageTemplate: templates[action],
    displayMessageTemplateData: { actionUser, ...change },
  }
}

function outboundOf({ action, actionUser, annotation, comment, changes }: Happening): Occurrence['outbound'] {
  if (!isEvent(action)) return null
  const data = {
    annotation: withoutOrder(annotation),
    ...(comment !== undefined && { comment: withoutOrder(comment) }),
    ...(changes !== undefined && { changes }),
  }
  return { type: action, documentId: annotation.documentId, actionUser, data }
}

const isEvent = (action: string): action is EventType => (eventTypes as readonly string[]).includes(action)

/** Activities are listed by the thousand: long texts are cut. */
const quotedChanges = (changes: Changes): Changes =>
  Object.fromEntries(
    Object.entries(changes).map(([name, { from, to }]) => [name, { from: quote(from), to: quote(to) }]),
  )

function quote(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= limits.quotedCharacters) return value
  // A pair of surrogates may have been cut in two.
  return `${value.slice(0, limits.quotedCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`
}
