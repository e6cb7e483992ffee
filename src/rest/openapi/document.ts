import {
  type AuthLevel,
  adminTokenHeader,
  apiKeyHeader,
  authTokenHeader,
  workspaceAuthTokenHeader,
  workspaceIdHeader,
} from '../../core/access/credentials/authenticator.ts'
import { causeOf, httpCodes } from '../../core/base/error-codes.ts'
import { json, type ObjectSchema } from '../../core/base/schema.ts'
import { ignoredHeader, isStrict } from '../members.ts'
import type { AgentRule, DocumentedError, Operation } from '../operation.ts'
import { exampleOf } from './examples.ts'
import {
  idempotencyErrors,
  idempotencyHeaders,
  idempotencyParameters,
  parametersOf,
  replayHeadersOf,
} from './idempotency.ts'
import { callerErrors } from './level-errors.ts'
import type { MethodDescription, PathDescription } from './path-description.ts'
import { errorBody, mapValues, publicSchema, publishedRequest, requestBody, resultBody } from './schemas.ts'

/** Errors that every operation can return, each with the code of its example. */
const commonErrors: readonly DocumentedError[] = [
  { code: 'request/invalid-member', when: 'the request is malformed, or credentials are missing' },
  { code: 'auth/invalid-credentials', when: 'the credentials are not valid' },
  { code: 'auth/origin-not-allowed', when: 'the request comes from a page that may not call' },
  {
    code: 'request/conflict',
    when: 'another call changes or deletes the same records at the same time; try again',
  },
  { code: 'limit/exceeded', when: 'a limit is exceeded; `Retry-After` is the time to wait in seconds' },
  { code: 'server/internal', when: 'the server failed' },
  { code: 'server/store-unavailable', when: 'the server is stopping, or its store is not available' },
]

const bodyTooLarge: DocumentedError = {
  code: 'request/body-too-large',
  when: 'the body is larger than the server takes',
}

/** Headers with the credentials of each level, and their descriptions. */
const credentials: Readonly<
  Record<AuthLevel, Readonly<Record<string, { readonly name: string; readonly description: string }>>>
> = {
  key: {
    apiKey: { name: apiKeyHeader.name, description: 'API key.' },
    authToken: { name: authTokenHeader.name, description: 'Auth token of the API key.' },
  },
  workspace: {
    workspaceId: { name: workspaceIdHeader.name, description: 'Id of the workspace.' },
    workspaceAuthToken: { name: workspaceAuthTokenHeader.name, description: 'Auth token of the workspace.' },
  },
  operator: {
    adminToken: { name: adminTokenHeader.name, description: 'Admin token of the server.' },
  },
}

/** Description of the right that an agent needs. */
const agentSentences: Readonly<Record<AgentRule['role'], string>> = {
  viewer: 'Open to agents with a role on the document.',
  suggester: 'Open to agents with the role suggester or editor on the document.',
  editor: 'Open to agents with the role editor, or with the role suggester in a branch of their own.',
  each: 'Open to agents.',
}

const agentCredentials = {
  agentToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'Token of an agent, instead of an API key. `/v2/auth/generate_token` creates it.',
  },
}

/** Credentials of users, each of which suffices. */
const userCredentials = {
  userToken: { type: 'http', scheme: 'bearer', description: 'Token of the user.' },
  userTokenParameter: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'Token of the user, for clients that cannot set headers.',
  },
}

/** Tags by the second part of an operation's path. Tags that users need first come first. */
const tags: Readonly<Record<string, { readonly title: string; readonly description: string }>> = {
  crdt: { title: 'Content and versions', description: 'Live content of documents, and its versions.' },
  auth: { title: 'Tokens and permissions', description: 'Tokens and permissions of users.' },
  organizations: {
    title: 'Organizations and documents',
    description: 'Organizations, and the folders, documents and user groups in them.',
  },
  users: { title: 'Users', description: 'Users of organizations, folders and documents.' },
  presence: {
    title: 'Presence',
    description: 'Users on a document: connected users, and users whom a backend adds.',
  },
  feed: {
    title: 'Change feed',
    description: 'All events of an API key, in one order, for programs that follow them.',
  },
  livestate: { title: 'Messages to clients', description: 'Messages of a backend to connected clients.' },
  commentannotations: {
    title: 'Comments',
    description: 'Threads of comments on documents, with reactions and suggestions.',
  },
  activities: {
    title: 'Activity feed',
    description: 'Activity feed of organizations and their documents.',
  },
  notifications: {
    title: 'Notifications',
    description: 'Notifications, and the notification settings of users.',
  },
  memory: {
    title: 'Decision suggestions',
    description: 'Judgments of reviewers, and suggestions from them.',
  },
  sync: {
    title: 'Sync over HTTP',
    description:
      'Realtime sync for clients behind proxies that reject websockets. The chapter `/docs/editors#proxies-that-reject-websockets` has the details.',
  },
  connections: { title: 'Connections', description: 'Clients that are connected to documents.' },
  requests: { title: 'Request log', description: 'Recent calls and rejections of an API key.' },
  metrics: { title: 'Metrics', description: 'History of the metrics of a server, and the stored bytes.' },
  workspace: {
    title: 'Workspaces, keys and webhooks',
    description: 'Workspaces, their API keys and tokens, and the domains and webhooks of an API key.',
  },
}

const description = `
Every operation is a \`POST\` of a JSON object whose member \`data\` holds all parameters; the paths of streams and of sync
over HTTP are not operations. Operations that write reject unknown members; operations that read reject misspelled ones, and name others in the response header \`x-weft-ignored\`.
A success answers \`{ "result": { "status": "success", "message", "data" } }\`, a failure
\`{ "error": { "status", "message", "details" } }\` with the HTTP code of its status; \`details.code\` names the cause
(see /docs/errors). Responses name the request in \`x-request-id\`. To repeat a call without a second effect, send the
header \`idempotency-key\`. You choose the ids: any text of at most 512 bytes of UTF-8 without control characters, but
not \`.\` or \`..\`.
`.trim()

/** The requests that an OpenAPI document describes. */
interface Described {
  readonly operations: readonly Operation[]
  /** Paths whose requests are not calls of operations. */
  readonly paths: readonly PathDescription[]
}

/** Events that endpoints of webhooks get as the same payload. */
interface DescribedEvents {
  readonly types: readonly string[]
  readonly payload: ObjectSchema
}

/** Returns the OpenAPI 3.1 document of the operations and the other paths. */
export function openApiDocument(
  described: Described & { readonly events: readonly DescribedEvents[]; readonly version: string },
): object {
  const { operations, paths, events, version } = described
  return {
    openapi: '3.1.0',
    info: { title: 'Weft', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The server that this document comes from.' }],
    tags: tagsOf(described).map(describeTag),
    paths: Object.fromEntries([
      ...operations.map((operation) => [operation.path, { post: describe(operation) }]),
      ...paths.map(({ path, methods }) => [path, mapValues(methods, describeMethod)]),
    ]),
    webhooks: Object.fromEntries(events.map((group) => [nameOf(group), describeWebhook(group)])),
    components: {
      schemas: { Error: publicSchema(errorBody) },
      parameters: idempotencyParameters,
      headers: {
        ...idempotencyHeaders,
        RequestId: {
          description: "Names the request in the server's log.",
          schema: json.text(),
          required: true,
        },
        Ignored: {
          description:
            'JSON pointers of the members that the call ignored, as in a URI; absent if there are none.',
          schema: json.text(),
        },
        RetryAfter: { description: 'Seconds to wait before the next try.', schema: json.integer() },
      },
      securitySchemes: Object.assign(
        {},
        ...Object.values(credentials).map(securitySchemes),
        agentCredentials,
        userCredentials,
      ),
    },
  }
}

/** Returns the tags without duplicates, in the order of the reference. */
const tagsOf = ({ operations, paths }: Described): readonly string[] => {
  const others = paths.flatMap(({ methods }) => Object.values(methods).map(({ tag }) => tag))
  const used = new Set([...operations.map(tagOf), ...others])
  return Object.keys(tags).filter((name) => used.has(name))
}

/**
 * Returns the description of a tag. `x-displayName` is an extension that common viewers of OpenAPI support.
 */
const describeTag = (name: string): object => ({
  name,
  'x-displayName': tags[name]?.title,
  description: tags[name]?.description,
})

const tagOf = ({ path }: Operation): string => path.split('/')[2] ?? ''

const securitySchemes = (headers: (typeof credentials)[AuthLevel]): object =>
  mapValues(headers, (header) => ({ type: 'apiKey', in: 'header', ...header }))

function describe(operation: Operation): object {
  const { path, auth, agents, summary, errors } = operation
  const description = [
    operation.description,
    ...(agents === undefined ? [] : [agentSentences[agents.role]]),
  ].join(' ')
  return {
    operationId: path.slice(1).replaceAll('/', '_'),
    summary,
    description,
    tags: [tagOf(operation)],
    security: [mapValues(credentials[auth], () => []), ...(agents === undefined ? [] : [{ agentToken: [] }])],
    ...parametersOf(operation),
    requestBody: { required: true, content: requestContent(operation) },
    responses: {
      200: {
        description: 'Done.',
        headers: { ...commonHeaders, ...replayHeadersOf(operation), ...ignoredHeaders },
        content: answerContent(operation),
      },
      ...errorResponses([
        ...commonErrors,
        bodyTooLarge,
        ...callerErrors(operation),
        ...idempotencyErrors(operation),
        ...errors,
      ]),
    },
  }
}

/** Returns the product area of the events of a group. */
const nameOf = ({ types }: DescribedEvents): string => types[0]?.replace(/\.[^.]*$/, '') ?? ''

const describeWebhook = (group: DescribedEvents): object => ({
  post: {
    operationId: `webhook_${nameOf(group).replaceAll('.', '_')}`,
    summary: group.types.join(', '),
    description: 'A request to an endpoint of webhooks, signed as Standard Webhooks specifies.',
    security: [],
    requestBody: {
      required: true,
      content: jsonContent(publicSchema(group.payload), exampleOf(group.payload, 'answer')),
    },
    responses: { '2XX': { description: 'The endpoint has got the event.' } },
  },
})

function describeMethod(method: MethodDescription): object {
  const { tag, security, parameters, body, lines, answer, commonErrors: statuses, errors, ...texts } = method
  const common = commonErrors.filter(({ code }) => statuses.includes(causeOf(code).status))
  return {
    ...texts,
    tags: [tag],
    security: security === 'user' ? anyUserCredential : [mapValues(credentials[security], () => [])],
    parameters: parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      schema: publicSchema(schema),
    })),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        description: body,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    ...(lines !== undefined && {
      requestBody: {
        required: true,
        description: 'Lines of JSON. The schema is that of the first line.',
        content: {
          [lines.type]: { schema: publicSchema(lines.schema), examples: { first: { value: lines.example } } },
        },
      },
    }),
    responses: {
      200: {
        description: 'Done.',
        headers: commonHeaders,
        content: {
          [answer.type]: {
            schema: publicSchema(answer.schema),
            examples: { done: { value: answer.example } },
          },
        },
      },
      ...errorResponses([...common, ...errors]),
    },
  }
}

const anyUserCredential = Object.keys(userCredentials).map((name) => ({ [name]: [] }))

const ignoredHeaders = { [ignoredHeader]: { $ref: '#/components/headers/Ignored' } }
const commonHeaders = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
const retryHeaders = { ...commonHeaders, 'retry-after': { $ref: '#/components/headers/RetryAfter' } }
/** HTTP codes whose responses have `Retry-After`. */
const retryCodes: readonly number[] = [httpCodes.ABORTED, httpCodes.RESOURCE_EXHAUSTED, httpCodes.UNAVAILABLE]

const requestContent = (operation: Operation): object => {
  const body = requestBody(operation.request)
  return jsonContent(publishedRequest(body, isStrict(operation)), exampleOf(body, 'request'))
}

const answerContent = (operation: Operation): object => {
  const body = resultBody(operation)
  return jsonContent(publicSchema(body), exampleOf(body, 'answer'))
}

const jsonContent = (schema: object, example: unknown): object => ({
  'application/json': { schema, examples: { done: { value: example } } },
})

function httpCodeOf({ code }: DocumentedError): number {
  const { status, httpCode = httpCodes[status] } = causeOf(code)
  return httpCode
}

/** Returns one response for each HTTP code. Several statuses may have the same HTTP code. */
function errorResponses(errors: readonly DocumentedError[]): object {
  const codes = [...new Set(errors.map(httpCodeOf))]
  return Object.fromEntries(
    codes.map((code) => {
      const sameCode = errors.filter((error) => httpCodeOf(error) === code)
      const description = sameCode.map(({ code, when }) => `${causeOf(code).status} when ${when}.`).join(' ')
      const headers = retryCodes.includes(code) ? retryHeaders : commonHeaders
      return [code, { description, headers, content: errorContent(sameCode) }]
    }),
  )
}

const errorContent = (errors: readonly DocumentedError[]): object => ({
  'application/json': {
    schema: { $ref: '#/components/schemas/Error' },
    examples: Object.fromEntries(
      errors.map(({ when, code }, index) => {
        const { status } = causeOf(code)
        const value = { error: { status, message: when, details: { code } } }
        return [`${status}-${index + 1}`, { summary: when, value }]
      }),
    ),
  },
})
