/** Event types that an endpoint can get, with the names that the API uses. */
export const endpointEventTypes = [
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

/** Formats of the content for the callback `store`, with the names that the API uses. */
export const contentFormats = [
  'json',
  'text',
  'xml',
  'markdown',
  'html',
  'delta',
  'xmltext',
  'prosemirror',
  'update',
  'roots',
] as const

export interface EndpointSettings {
  readonly id: string
  readonly url: string
  readonly description: string | null
  /** Event types that the endpoint gets; null for all types. */
  readonly filterTypes: readonly string[] | null
  readonly channels: readonly string[] | null
  readonly disabled: boolean
  readonly rateLimit: number | null
  readonly uid: string | null
  readonly createdAt: string
}
