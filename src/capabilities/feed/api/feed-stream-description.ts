import type { PathDescription } from '../../../rest/openapi/path-description.ts'
import { feedErrors, feedSelection } from './feed-schema.ts'

export const feedStreamPath = '/v2/feed/stream'

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
        ...Object.entries(feedSelection).map(([name, { description, ...schema }]) => ({
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
        schema: { type: 'string', description: 'Server-sent events.' },
        example:
          'id: AAAAAAAAAAE\ndata: {"id":"…","type":"document.create","documentId":"report","data":{}}\n\n',
      },
      commonErrors: [
        'INVALID_ARGUMENT',
        'UNAUTHENTICATED',
        'PERMISSION_DENIED',
        'RESOURCE_EXHAUSTED',
        'INTERNAL',
        'UNAVAILABLE',
      ],
      errors: feedErrors,
    },
  },
}
