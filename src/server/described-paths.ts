import { capabilities } from '../capabilities/list.ts'
import { json, type Schema } from '../core/base/schema.ts'
import { sessionIdPattern, waitSecondsMax } from '../core/sync/http/session-request.ts'
import type {
  MethodDescription,
  ParameterDescription,
  PathDescription,
} from '../rest/openapi/path-description.ts'

const query = (name: string, description: string, schema: Schema): ParameterDescription => ({
  name,
  in: 'query',
  description,
  schema,
})
const flag = json.choice(['1'])
const session: ParameterDescription = {
  name: 'session',
  in: 'query',
  description: 'Id of the session: 32 random hexadecimal digits, which the client chooses.',
  schema: { type: 'string', pattern: sessionIdPattern.source },
  required: true,
}
const position = query('position', 'Number of the last message that the client has received.', {
  type: 'integer',
  minimum: 0,
})
const dialect = query(
  'dialect',
  'Protocol of the messages, if it is not that of y-websocket.',
  json.choice(['hocuspocus']),
)
const onlyDialect: ParameterDescription = {
  ...dialect,
  description: 'Protocol of the messages.',
  required: true,
}

const getParameters: readonly ParameterDescription[] = [
  session,
  { ...position, description: `${position.description} 0 or no value begins the session.` },
  query('resume', '1: the session has begun, so the request must not begin it.', json.choice(['0', '1'])),
  query('wait', 'Maximum seconds of a long poll. Without it, the response is a stream.', {
    type: 'integer',
    minimum: 0,
    maximum: waitSecondsMax,
  }),
]
const postParameters: readonly ParameterDescription[] = [
  session,
  position,
  query(
    'number',
    'Number of the first message in the body. The first message of a session has the number 1.',
    { type: 'integer', minimum: 1 },
  ),
  query('close', 'Close code. The session ends after the messages.', {
    type: 'integer',
    minimum: 1000,
    maximum: 4999,
  }),
]
/** Parameters that begin a session with the protocol of y-websocket. */
const yWebsocketParameters: readonly ParameterDescription[] = [
  query('renew', 'The client gets a new token when its token expires.', flag),
  query('live', 'The client understands live messages of backends.', flag),
  query('saved', 'The client requests acknowledgments of durable updates.', flag),
  query('role', 'The client requests its role, and each change of it.', flag),
]
const documentParameters: readonly ParameterDescription[] = [
  ['organizationId', 'Id of the organization.'],
  ['documentId', 'Id of the document.'],
  ['editorId', 'Id of the editor.'],
].map(([name = '', description = '']) => ({
  name,
  in: 'path',
  description,
  schema: json.id(),
  required: true,
}))

const receive = {
  summary: 'Receive messages',
  description:
    'Begins or continues a session. The response is server-sent events: `open`, then messages in base64 whose ids are ' +
    'their numbers, and `close` with a code and a reason at the end of the session. A rejected client gets only `close`.',
  tag: 'sync',
  security: 'user',
  answer: {
    type: 'text/event-stream',
    schema: json.text('Server-sent events.'),
    example: 'event: open\ndata: {}\n\nid: 1\ndata: AAABAA==\n\n',
  },
  commonErrors: ['RESOURCE_EXHAUSTED', 'INTERNAL', 'UNAVAILABLE'],
  errors: [{ code: 'transport/invalid-request', when: 'a parameter is not valid' }],
} as const satisfies Partial<MethodDescription>

const send = {
  summary: 'Send messages',
  description:
    'Sends messages of the client. The server uses each message once, so a client can repeat a request.',
  tag: 'sync',
  security: 'user',
  body: 'Messages. Before each message is its length as a variable-length integer, as lib0 writes it.',
  answer: {
    type: 'application/json',
    schema: json.object({
      received: json.integer('Number of the last message that the server has received.'),
    }),
    example: { received: 7 },
  },
  commonErrors: ['RESOURCE_EXHAUSTED', 'INTERNAL', 'UNAVAILABLE'],
  errors: [
    { code: 'transport/invalid-request', when: 'a parameter or the body is not valid' },
    { code: 'transport/message-too-large', when: 'the body is larger than one message may be' },
    { code: 'transport/other-user', when: 'the session belongs to another user' },
    { code: 'transport/unknown-session', when: 'the server does not have the session' },
    {
      code: 'transport/message-gap',
      when: 'messages before `number` are missing; the body also has `received`',
    },
  ],
} as const satisfies Partial<MethodDescription>

/** Paths whose requests are not calls of operations, for the OpenAPI document. */
export const describedPaths: readonly PathDescription[] = [
  ...capabilities.flatMap(({ paths = [] }) => paths),
  {
    path: '/sync-http/{organizationId}/{documentId}/{editorId}',
    methods: {
      get: {
        ...receive,
        operationId: 'sync_http_get',
        parameters: [...documentParameters, dialect, ...getParameters, ...yWebsocketParameters],
      },
      post: {
        ...send,
        operationId: 'sync_http_post',
        parameters: [...documentParameters, dialect, ...postParameters],
      },
    },
  },
  {
    path: '/sync-http',
    methods: {
      get: {
        ...receive,
        operationId: 'sync_http_several_get',
        summary: 'Receive messages of several documents',
        parameters: [onlyDialect, ...getParameters],
      },
      post: {
        ...send,
        operationId: 'sync_http_several_post',
        summary: 'Send messages of several documents',
        parameters: [onlyDialect, ...postParameters],
      },
    },
  },
]
