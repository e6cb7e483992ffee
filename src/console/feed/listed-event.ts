import { endpointEventTypes } from '../webhooks/webhook-types.ts'

/** An event of the change feed, as `/v2/feed/get` returns it. */
export interface ListedEvent {
  readonly id: string
  readonly cursor: string
  readonly type: string
  readonly at: string
  readonly organizationId: string
  readonly documentId: string | null
  readonly actionUser: { readonly userId: string; readonly name?: string }
  readonly data: Readonly<Record<string, unknown>>
}

/** A page of the change feed, in the order of the feed. */
export interface FeedEventPage {
  readonly events: readonly ListedEvent[]
  /** Continues after the page. */
  readonly cursor: string
  /** True if the feed had no more matching events. */
  readonly isEnd: boolean
}

/** Members of a request that select events. */
export interface EventSelection {
  readonly organizationId?: string
  readonly documentIds?: readonly string[]
  readonly types?: readonly string[]
}

/** Types of the events of a feed, with the names that the API uses. */
export const listedEventTypes: readonly string[] = [
  ...endpointEventTypes.filter((type) => type !== 'webhook.test' && type !== 'message.attempt.exhausted'),
  'organization.delete',
]
