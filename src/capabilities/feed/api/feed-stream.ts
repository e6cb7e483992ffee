import type { IncomingMessage } from 'node:http'
import type { KeyCaller } from '../../../core/access/credentials/authenticator.ts'
import { watchCaller } from '../../../core/access/credentials/caller-watch.ts'
import { ApiError } from '../../../core/base/errors.ts'
import {
  beginEventStream,
  encodeServerSentEvent,
  streamComment,
  streamCommentMs,
} from '../../../core/base/event-stream.ts'
import { json } from '../../../core/base/schema.ts'
import { encodeJson } from '../../../core/model/json-pieces.ts'
import { errorEnvelope } from '../../../core/model/raw-response.ts'
import { exhausted } from '../../../core/quota/limits.ts'
import { transferTimeoutMsDefault } from '../../../core/quota/slow-transfers.ts'
import type { CallAuditor } from '../../../rest/http/call-auditor.ts'
import { backendOf } from '../../../rest/http/caller-of.ts'
import { toApiError } from '../../../rest/http/envelope.ts'
import type { Edge } from '../../../rest/http/operation-steps.ts'
import { chargeCalls, limitCaller } from '../../../rest/http/rate-limits.ts'
import type { ServedResponse } from '../../../rest/http/served-response.ts'
import type { ServedRoute } from '../../../rest/http/served-route.ts'
import { setCaller } from '../../../rest/http/traced-request.ts'
import { PartWriter } from '../../../rest/http/unread-responses.ts'
import { type PathDescription, streamErrors } from '../../../rest/openapi/path-description.ts'
import type { Services } from '../../../rest/services.ts'
import { invalidAt, validatorOf } from '../../../rest/validator.ts'
import { addContent, type SentFeedEvent, type SentFeedPage } from './feed-content.ts'
import { type FeedRequest, feedErrors, feedQueryOf, feedSelection, furtherCalls } from './feed-schema.ts'

const feedStreamPath = '/v2/feed/stream'

/** The stream of the change feed, for the OpenAPI document. */
export const feedStreamDescription: PathDescription = {
  path: feedStreamPath,
  methods: {
    get: {
      operationId: 'v2_feed_stream',
      summary: 'Stream events',
      description:
        'Sends the events of the feed as server-sent events. The id of each event is its cursor, and its data is an ' +
        'event of `/v2/feed/get`. The server ends a stream after 10 minutes; the client then continues with the last ' +
        'id. An event `error` with the body of an error response also ends a stream.',
      tag: 'feed',
      security: 'key',
      parameters: [
        ...Object.entries(feedSelection).map(([name, { description = '', ...schema }]) => ({
          name,
          in: 'query' as const,
          description,
          schema,
        })),
        {
          name: 'last-event-id',
          in: 'header',
          description: 'Replaces `cursor`. Browsers send it when they reconnect.',
          schema: { type: 'string', maxLength: feedSelection.cursor.maxLength },
        },
      ],
      answer: {
        type: 'text/event-stream',
        schema: json.text('Server-sent events.'),
        example:
          'id: AAAAAAAAAAE\ndata: {"id":"…","type":"document.create","documentId":"report","data":{}}\n\n',
      },
      commonErrors: streamErrors,
      errors: feedErrors,
    },
  },
}

/** Time in ms after which a stream ends. The client then connects again, with credentials that may have changed. */
const streamMs = 600_000

const request = json.object({}, feedSelection)

/** Creates the route of the stream of the change feed. */
export function feedStreamRoute(services: Services, edge: Edge): ServedRoute {
  const validate = validatorOf(request)
  return {
    path: feedStreamPath,
    label: feedStreamPath,
    methods: {
      async GET(request, response) {
        const noteOutcome = (outcome: Parameters<CallAuditor['answered']>[2]): void => {
          const { caller = null, requestId } = response.weftLocals
          edge.auditor.answered(feedStreamPath, { caller, request, requestId }, outcome)
        }
        try {
          const ready = edge.readiness()
          if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
          const caller = await backendOf('key', request, edge)
          setCaller(response, caller)
          await limitCaller(edge.quotas, caller, request, response, 0)
          const selection = selectionOf(request)
          validate(selection, 0)
          const begun = (): void => noteOutcome({ httpCode: 200, body: '', replayed: false })
          await sendStream(response, selection, services, edge, {
            caller,
            check: async () => (await edge.authenticator.callerOf('key', request.headers)).validUntil,
            begun,
          })
        } catch (error) {
          if (!response.headersSent) noteOutcome({ error })
          throw error
        }
      },
    },
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

const errorEvent = (error: ApiError): string =>
  encodeServerSentEvent({ event: 'error', data: JSON.stringify(errorEnvelope(error)) })

const behindEvent = (): string =>
  errorEvent(
    exhausted('transferTimeoutSeconds', transferTimeoutMsDefault / 1000, {
      problem: 'the client did not read the stream in time',
      remedy: 'connect again with the last cursor',
      retryAfterSeconds: 1,
    }),
  )

/** The client of a stream. */
interface FeedReader {
  readonly caller: KeyCaller
  /** As in `WatchedCaller`. */
  readonly check: () => Promise<number>
  /** Called before the first page. */
  readonly begun: () => void
}

/**
 * Sends the events until the client leaves, the time of a stream ends, or the server stops. At most one page waits
 * for the client. If the credentials of the client become invalid, the stream ends with their error.
 */
async function sendStream(
  response: ServedResponse,
  selection: FeedRequest,
  services: Services,
  { quotas }: Edge,
  { caller, check, begun }: FeedReader,
): Promise<void> {
  const { tenant, validUntil } = caller
  const left = new AbortController()
  const rejected = new AbortController()
  response.once('close', () => left.abort())
  const onRejected = (error: unknown): void => {
    rejected.abort(error)
    left.abort()
  }
  const endWatch = watchCaller(
    { tenant, organizationId: null, validUntil, check, onRejected },
    services.accessNews,
    services.clock,
  )
  const endsAt = performance.now() + streamMs
  const pages = services.feed.follow(tenant, feedQueryOf(selection), {
    quietMs: streamCommentMs,
    left: left.signal,
    charge: (page) => chargeCalls(quotas, caller, furtherCalls(page)),
    prepare: (page) => addContent(services, tenant, page, selection),
  })
  const writer = new PartWriter(response, quotas.unread, behindEvent)
  try {
    for await (const page of pages) {
      rejected.signal.throwIfAborted()
      if (!response.headersSent) {
        begun()
        beginEventStream(response)
      }
      await writer.write(Buffer.from(page === null ? streamComment : textOf(page)))
      if (left.signal.aborted || response.writableEnded || performance.now() > endsAt) break
    }
    rejected.signal.throwIfAborted()
  } catch (error) {
    const known = toApiError(error)
    // An error before the first page has its usual status.
    if (!response.headersSent || known === null) throw error
    if (!response.writableEnded) response.end(errorEvent(known))
  } finally {
    endWatch()
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

const jsonText = (event: SentFeedEvent): string =>
  Buffer.concat(encodeJson(event, Number.POSITIVE_INFINITY).parts).toString()
