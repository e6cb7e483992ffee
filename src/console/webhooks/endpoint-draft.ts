import type { EndpointSettings } from './webhook-types.ts'

/** Form values of an endpoint. */
export interface Draft {
  readonly url: string
  readonly description: string
  /** Empty: all. */
  readonly filterTypes: readonly string[]
  /** Separated by commas; empty: all. */
  readonly channels: string
  readonly rateLimit: string
}

export const emptyDraft: Draft = { url: '', description: '', filterTypes: [], channels: '', rateLimit: '' }

export const draftOf = ({ url, description, filterTypes, channels, rateLimit }: EndpointSettings): Draft => ({
  url,
  description: description ?? '',
  filterTypes: filterTypes ?? [],
  channels: channels?.join(', ') ?? '',
  rateLimit: rateLimit === null ? '' : `${rateLimit}`,
})

/** The members of the draft; null for unset ones. */
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

/** For `endpoints/update`, where null unsets. */
export const toUpdateRequest = (draft: Draft): object => membersOf(draft)

/** For `endpoints/create`, which does not accept null. */
export const toCreateRequest = (draft: Draft): object =>
  Object.fromEntries(Object.entries(membersOf(draft)).filter(([, value]) => value !== null))
