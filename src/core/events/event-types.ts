/**
 * Types of events to which external receivers can subscribe. The last two types are events of webhooks
 * themselves; only the webhook sender records them.
 */
export const eventTypes = [
  'comment_annotation.add',
  'comment_annotation.assign',
  'comment_annotation.status_change',
  'comment_annotation.priority_change',
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
  'comment.add',
  'comment.update',
  'comment.delete',
  'comment.reaction_add',
  'comment.reaction_delete',
  'huddle.create',
  'huddle.join',
  'recorder.done',
  'crdt.update_data',
  'crdt.delete_data',
  'document.create',
  'document.delete',
  'permission.add',
  'permission.update',
  'permission.delete',
  'presence.join',
  'presence.leave',
  'webhook.test',
  'message.attempt.exhausted',
] as const
export type EventType = (typeof eventTypes)[number]
