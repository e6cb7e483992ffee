import { pauseAfter } from '../../core/base/backoff.ts'
import type { FeedEvent, FeedGetData, FeedGetRequest, WeftApi } from '../api/operation-types.ts'
import { WeftError, type WeftFailure } from '../api/result.ts'
import { pause } from './deadline.ts'

/** Options of `feedPages` and `feedEvents`: the events to read, and when to end. */
export interface FeedOptions extends Omit<FeedGetRequest, 'waitSeconds'> {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined
}

/** Seconds for which one request waits for events. It is below the 30 s after which proxies close idle requests. */
const waitSeconds = 20
/** Milliseconds for one request with its retries. */
const timeoutMs = 60_000
/** Pauses after failures. */
const pauses = { firstMs: 1_000, maxMs: 30_000 }

/**
 * Returns the pages of the feed, without end: it waits for new events. A page without events is returned too,
 * because its cursor is new. Waits while the server is not reachable.
 * @throws WeftError if the feed cannot continue, for example `feed/cursor-expired`
 */
export async function* readFeedPages(
  api: WeftApi,
  { signal, ...selection }: FeedOptions = {},
): AsyncGenerator<FeedGetData, void> {
  let request: FeedGetRequest = { ...selection, waitSeconds }
  let failures = 0
  for (;;) {
    if (signal?.aborted === true) return
    const result = await api.feed.get(request, { signal, timeoutMs })
    if (result.ok) {
      failures = 0
      const { cursor } = result.data
      if (cursor !== request.cursor) yield result.data
      request = { ...request, cursor, from: undefined }
    } else if (result.error.code === 'client/aborted') return
    else {
      if (!isPassing(result.error)) throw new WeftError(result.error)
      const { retryAfterSeconds = 0 } = result.error
      failures += 1
      await pause(Math.max(retryAfterSeconds * 1000, pauseAfter(pauses, failures)), signal)
    }
  }
}

/** Returns each event of the pages. */
export async function* readFeedEvents(
  api: WeftApi,
  options: FeedOptions = {},
): AsyncGenerator<FeedEvent, void> {
  for await (const { events } of readFeedPages(api, options)) yield* events
}

const isPassing = ({ status, retryAfterSeconds }: WeftFailure): boolean =>
  status === 'UNAVAILABLE' || (status === 'RESOURCE_EXHAUSTED' && retryAfterSeconds !== undefined)
