import { createApi } from '../api/create-api.ts'
import type { FeedEvent, FeedGetData, WeftApi } from '../api/operation-types.ts'
import type { Result } from '../api/result.ts'
import { type ClientOptions, settingsOf } from './client-options.ts'
import { type FeedOptions, readFeedEvents, readFeedPages } from './feed-pages.ts'
import { sendCall } from './send-call.ts'
import {
  type ContentStreamDone,
  type ContentStreamOpening,
  type ContentStreamOptions,
  type ContentStreamPiece,
  streamContent,
} from './stream-content.ts'

export * from '../api/index.ts'
export type { ClientOptions, Fetch } from './client-options.ts'
export { createEndpoint, type Endpoint, type EndpointOptions } from './create-endpoint.ts'
export type {
  CommentAuthor,
  CommentThread,
  CommentThreadPage,
  ThreadComment,
} from './endpoint-comments.ts'
export type { EndpointErrorCode } from './endpoint-rejection.ts'
export type { StartedSuggesting, SuggestedChange, SuggestionList } from './endpoint-suggestions.ts'
export type { EndpointDocument, EndpointUser } from './endpoint-user.ts'
export type { FeedOptions } from './feed-pages.ts'
export type {
  ContentStreamDone,
  ContentStreamOpening,
  ContentStreamOptions,
  ContentStreamPiece,
  ContentStreamProgress,
} from './stream-content.ts'
export {
  verifyWebhook,
  type WebhookHeaders,
  type WebhookOptions,
  WebhookRejectedError,
} from './verify-webhook.ts'

/** A client of one server: a method for each operation, and the change feed. */
export interface WeftClient extends WeftApi {
  readonly crdt: WeftApi['crdt'] & {
    /**
     * Inserts or replaces content that arrives in pieces. Users see each piece as soon as it is stored. After a broken
     * connection, continues at the durable content. Needs a `fetch` that sends the body while it receives the response,
     * as in Node, Deno and Bun.
     * @throws the errors of `pieces`; the content that is durable then stays
     */
    stream(
      opening: ContentStreamOpening,
      pieces: AsyncIterable<ContentStreamPiece> | Iterable<ContentStreamPiece>,
      options?: ContentStreamOptions,
    ): Promise<Result<ContentStreamDone>>
  }
  /**
   * Returns the pages of the change feed, without end. Store `cursor` of a page when its events are processed, and
   * pass it as `cursor` to resume. While the server is not reachable, it tries again, with at most 30 s between.
   * @throws WeftError if the feed cannot continue, for example `feed/disabled` or `feed/cursor-expired`
   */
  feedPages(options?: FeedOptions): AsyncGenerator<FeedGetData, void>
  /** Returns each event of the change feed, like `feedPages`. An event has its own `cursor`. */
  feedEvents(options?: FeedOptions): AsyncGenerator<FeedEvent, void>
}

/**
 * Creates a client for the REST API. It needs only `fetch` and other standard APIs, so it runs in Node, Deno, Bun,
 * edge runtimes and browsers. It has no connection and no timer while no call is running.
 * @throws TypeError if an option is not valid
 */
export function createClient(options: ClientOptions): WeftClient {
  const settings = settingsOf(options)
  const api = createApi((operation, data, call) => sendCall(settings, operation, data, call))
  return {
    ...api,
    crdt: {
      ...api.crdt,
      stream: (opening, pieces, stream) => streamContent(settings, opening, pieces, stream),
    },
    feedPages: (selection) => readFeedPages(api, selection),
    feedEvents: (selection) => readFeedEvents(api, selection),
  }
}
