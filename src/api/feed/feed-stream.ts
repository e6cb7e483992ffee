import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Authenticator, KeyCaller } from '../../access/credentials/authenticator.ts'
import type { Health } from '../../engine/engine.ts'
import { ApiError } from '../../errors.ts'
import {
  beginEventStream,
  encodeServerSentEvent,
  streamComment,
  streamCommentMs,
} from '../../event-stream.ts'
import { jsonPieces, StreamedArray } from '../../model/json-pieces.ts'
import { errorEnvelope } from '../../model/raw-response.ts'
import type { CallAuditor } from '../call-auditor.ts'
import { toApiError } from '../http/envelope.ts'
import type { ServedRoute } from '../http/served-route.ts'
import { invalidAt, ValidatorCache } from '../validator.ts'
import {
  addContent,
  type FeedContentServices,
  type SentFeedEvent,
  type SentFeedPage,
} from './feed-content.ts'
import { type FeedRequest, feedQueryOf, feedSelection } from './feed-schema.ts'

/** Path of the stream. */
export const feedStreamPath = '/v2/feed/stream'

/** Time in ms after which a stream ends. The client then connects again, with credentials that may have changed. */
const streamMs = 600_000

export interface FeedStreamOptions {
  readonly services: FeedContentServices
  readonly authenticator: Authenticator
  readonly auditor: CallAuditor
  /** The server accepts streams only while it is ready. */
  readonly readiness: () => Health
}

const request = { type: 'object', properties: feedSelection } as const

/** Creates the route of the stream of the change feed. */
export function feedStreamRoute(options: FeedStreamOptions): ServedRoute {
  const validate = new ValidatorCache().compile(request)
  return {
    path: feedStreamPath,
    labels: { GET: feedStreamPath },
    methods: {
      async GET(request, response) {
        const ready = options.readiness()
        if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
        const caller = await callerOf(request, options)
        const selection = selectionOf(request)
        validate(selection, 0)
        await sendStream(response, caller, selection, options)
      },
    },
  }
}

async function callerOf(
  request: IncomingMessage,
  { authenticator, auditor }: FeedStreamOptions,
): Promise<KeyCaller> {
  try {
    return (await authenticator.callerOf('key', request.headers)) as KeyCaller
  } catch (error) {
    auditor.refused('key', error, request)
    throw error
  }
}

const lists: readonly string[] = ['types', 'documentIds']

/**
 * Returns the members of the query. A list has one parameter for each element. `Last-Event-ID` counts before
 * `cursor`, because a browser sends it when it reconnects with the same URL.
 * @throws ApiError INVALID_ARGUMENT for an unknown or repeated parameter
 */
function selectionOf({ url = '', headers }: IncomingMessage): object {
  const parameters = new URLSearchParams(url.split('?')[1] ?? '')
  const selection = new Map<string, string | readonly string[]>()
  for (const name of new Set(parameters.keys())) {
    if (!Object.hasOwn(feedSelection, name)) throw invalidAt({ path: `/data/${name}`, message: 'is unknown' })
    const values = parameters.getAll(name)
    const [value = ''] = values
    if (lists.includes(name)) selection.set(name, values)
    else if (values.length > 1) throw invalidAt({ path: `/data/${name}`, message: 'must be given once' })
    else selection.set(name, value)
  }
  const last = headers['last-event-id']
  if (typeof last === 'string' && last !== '') {
    selection.set('cursor', last)
    selection.delete('from')
  }
  return Object.fromEntries(selection)
}

/** Sends the events until the client leaves, the time of a stream ends, or the server stops. */
async function sendStream(
  response: ServerResponse,
  { tenant }: KeyCaller,
  selection: FeedRequest,
  { services }: FeedStreamOptions,
): Promise<void> {
  const left = new AbortController()
  response.once('close', () => left.abort())
  const endsAt = performance.now() + streamMs
  const pages = services.feed.follow(tenant, feedQueryOf(selection), {
    quietMs: streamCommentMs,
    left: left.signal,
    prepare: (page) => addContent(services, tenant, page, selection),
  })
  try {
    for await (const page of pages) {
      if (!response.headersSent) beginEventStream(response)
      if (!response.write(page === null ? streamComment : textOf(page)) && !left.signal.aborted)
        await once(response, 'drain', { signal: left.signal }).catch(() => {})
      if (left.signal.aborted || performance.now() > endsAt) break
    }
  } catch (error) {
    const known = toApiError(error)
    // An error before the first page has its usual status.
    if (!response.headersSent || known === null) throw error
    response.write(encodeServerSentEvent({ event: 'error', data: JSON.stringify(errorEnvelope(known)) }))
  }
  response.end()
}

/**
 * Returns the text of a page: an event of the stream for each event, with its cursor as id. A last id without data
 * moves the position of the client over events that do not match.
 */
function textOf({ events, cursor }: SentFeedPage): string {
  const texts = events.map((event) => encodeServerSentEvent({ id: event.cursor, data: jsonText(event) }))
  return events.at(-1)?.cursor === cursor ? texts.join('') : `${texts.join('')}id: ${cursor}\n\n`
}

function jsonText(event: SentFeedEvent): string {
  let text = ''
  for (const piece of jsonPieces(event)) {
    if (piece instanceof StreamedArray) throw new TypeError('an event has no streamed arrays')
    text += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
  }
  return text
}
