import type { WebhookEndpoint } from '../../client/api/operation-types.ts'

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
