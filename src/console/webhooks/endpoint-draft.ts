import type { WebhookEndpoint } from '../../client/api/operation-types.ts'

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

/** Values of the form that changes or creates an endpoint. */
export interface Draft {
  readonly url: string
  readonly description: string
  /** Event types that the endpoint gets; empty for all. */
  readonly filterTypes: readonly string[]
  /** Ids of organizations and documents, separated by commas; empty for all. */
  readonly channels: string
  readonly rateLimit: string
}

export const emptyDraft: Draft = {
  url: '',
  description: '',
  filterTypes: [],
  channels: '',
  rateLimit: '',
}

export const draftOf = (endpoint: WebhookEndpoint): Draft => ({
  url: endpoint.url,
  description: endpoint.description ?? '',
  filterTypes: endpoint.filterTypes ?? [],
  channels: endpoint.channels?.join(', ') ?? '',
  rateLimit: endpoint.rateLimit === null ? '' : `${endpoint.rateLimit}`,
})

/** Returns the members of the endpoint in a draft. A member for which the draft has no value is null. */
function membersOf({ url, description, filterTypes, channels, rateLimit }: Draft) {
  const named = channels
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
  return {
    url: url.trim(),
    description: description === '' ? null : description,
    filterTypes: filterTypes.length === 0 ? null : filterTypes,
    channels: named.length === 0 ? null : named,
    rateLimit: rateLimit === '' ? null : Number(rateLimit),
  }
}

/** Returns the data for `endpoints/update`. In this call, null clears a member. */
export const toUpdateRequest = (draft: Draft): object => membersOf(draft)

/** Returns the data for `endpoints/create`. This call does not accept null, so such members are left out. */
export const toCreateRequest = (draft: Draft): object =>
  Object.fromEntries(Object.entries(membersOf(draft)).filter(([, value]) => value !== null))
