import type { IncomingMessage, RequestListener } from 'node:http'
import type { AgentAccess } from '../access/agents/agent-access.ts'
import type { AllowedOrigins } from '../access/allowed-origins.ts'
import { readBearer } from '../access/tokens/bearer.ts'
import type { CallAuditor } from '../api/call-auditor.ts'
import { type ApiLimits, limitCaller, limitMessages } from '../api/http/rate-limits.ts'
import type { BodyMeter } from '../api/http/request-body.ts'
import { ClientDisconnectedError, checkContentType, readRequestJson } from '../api/http/request-body.ts'
import type { ServedResponse } from '../api/http/served-response.ts'
import type { ServedRoute } from '../api/http/served-route.ts'
import { setCaller } from '../api/http/traced-request.ts'
import { PartWriter } from '../api/unread-responses.ts'
import type { Health } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { streamComment } from '../event-stream.ts'
import { mcpPath } from './mcp-path.ts'
import type { AgentRequest, McpSession } from './mcp-session.ts'
import type { McpSessionRegistry, McpSessionRegistryOptions } from './session-registry.ts'

export interface McpRouteOptions extends Omit<McpSessionRegistryOptions, 'handle' | 'onRejectedTool'> {
  /** Returns the listener that answers requests to REST. */
  readonly handle: () => RequestListener
  readonly agents: AgentAccess
  readonly origins: AllowedOrigins
  readonly auditor: CallAuditor
  readonly quotas: ApiLimits
  readonly bodyBytesMax: number
  readonly readiness: () => Health
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
}

/**
 * Creates the route of the MCP server (streamable HTTP). The SDK is loaded at the first request of an agent, so that
 * servers without agents do not need its memory.
 */
export function mcpRoute(options: McpRouteOptions): ServedRoute {
  let loading: Promise<McpSessionRegistry> | null = null
  const load = async (): Promise<McpSessionRegistry> => {
    const { McpSessionRegistry } = await import('./session-registry.ts')
    const sessions = new McpSessionRegistry({
      ...options,
      handle: options.handle(),
      onRejectedTool: (caller, tool, address) => options.auditor.toolRejected(caller, tool, address),
    })
    options.stopping.addEventListener('abort', () => void sessions.endAll(), { once: true })
    return sessions
  }
  const serve = async (request: IncomingMessage, response: ServedResponse): Promise<void> => {
    try {
      await answer(request, response, options, () => (loading ??= load()))
    } catch (error) {
      if (!(error instanceof ClientDisconnectedError)) noteError(error, request, response, options)
      throw error
    }
  }
  return {
    path: mcpPath,
    labels: { POST: mcpPath, GET: `${mcpPath} stream`, DELETE: mcpPath },
    methods: { POST: serve, GET: serve, DELETE: serve },
  }
}

function noteError(
  error: unknown,
  request: IncomingMessage,
  response: ServedResponse,
  { auditor }: McpRouteOptions,
): void {
  const { caller = null, requestId } = response.locals
  auditor.answered(mcpPath, { caller, request, requestId }, { error })
  if (error instanceof ApiError && error.status === 'UNAUTHENTICATED' && !response.headersSent)
    response.setHeader('www-authenticate', 'Bearer realm="weft"')
}

async function answer(
  request: IncomingMessage,
  response: ServedResponse,
  options: McpRouteOptions,
  load: () => Promise<McpSessionRegistry>,
): Promise<void> {
  const ready = options.readiness()
  if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
  const agent = await authenticate(request, response, options)
  const meter = await limitCaller(options.quotas, agent.caller, request, response, options.bodyBytesMax)
  const body = request.method === 'POST' ? await readMessages(request, options, meter) : undefined
  // The request itself has counted as one message.
  if (Array.isArray(body) && body.length > 1) limitMessages(options.quotas, agent.caller, body.length - 1)
  const sessions = await load()
  const session = await sessionOf(request, body, agent, sessions)
  const endUse = sessions.use(session, agent)
  let isAccepted = request.headers['mcp-session-id'] !== undefined
  try {
    const standard = new Request(`http://localhost${mcpPath}`, {
      method: request.method ?? '',
      headers: standardHeaders(request),
    })
    const answered = await session.transport.handleRequest(standard, {
      authInfo: { token: agent.token, clientId: '', scopes: [], extra: { ...agent } },
      ...(body !== undefined && { parsedBody: body }),
    })
    if (request.method === 'DELETE') await sessions.end(session)
    if (!isAccepted && answered.ok) {
      isAccepted = true
      await sessions.keep(session)
    }
    await send(answered, response, options, request.method === 'GET' ? session : null)
  } finally {
    endUse()
    if (!isAccepted) await sessions.end(session)
  }
}

/** @throws ApiError UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE */
async function authenticate(
  request: IncomingMessage,
  response: ServedResponse,
  { agents, auditor, origins }: McpRouteOptions,
): Promise<AgentRequest> {
  try {
    const caller = await agents.callerOf(request.headers)
    const token = readBearer(request.headers)
    if (caller === null || token === null)
      throw new ApiError(
        'agent/invalid-token',
        'the request needs the token of an agent: Authorization: Bearer',
        {
          details: { reason: 'missing' },
        },
      )
    setCaller(response, caller)
    // Against DNS rebinding, a page needs more than a token: its domain must be listed.
    if (caller.origin !== undefined && !(await origins.isListed(caller.tenant, caller.origin)))
      throw new ApiError(
        'auth/origin-not-allowed',
        'the API key of the token does not list the domain of the page; allow it with /v2/workspace/domains/add',
      )
    return { caller, token, address: String(response.locals.address) }
  } catch (error) {
    auditor.refused('realtime', error, request)
    throw error
  }
}

async function readMessages(
  request: IncomingMessage,
  { bodyBytesMax }: McpRouteOptions,
  meter: BodyMeter,
): Promise<unknown> {
  checkContentType(request)
  const { body } = await readRequestJson(request, bodyBytesMax, meter)
  return body
}

/** @throws ApiError NOT_FOUND if the session has ended; INVALID_ARGUMENT if the request names none */
async function sessionOf(
  { headers }: IncomingMessage,
  body: unknown,
  agent: AgentRequest,
  sessions: McpSessionRegistry,
): Promise<McpSession> {
  const id = headers['mcp-session-id']
  if (typeof id === 'string') {
    const session = sessions.find(id, agent.caller)
    if (session === null)
      throw new ApiError('mcp/unknown-session', 'the session has ended; begin another one with initialize')
    return session
  }
  if (!isInitialize(body))
    throw new ApiError('mcp/session-required', 'the header mcp-session-id is missing; begin with initialize')
  return sessions.begin(agent)
}

const isInitialize = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize'

/** Headers that the transport of the SDK reads. */
const readHeaders = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id']

const standardHeaders = ({ headers }: IncomingMessage): [string, string][] =>
  readHeaders.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })

/**
 * Sends the response of the transport. A stream waits until the client reads.
 * @param listener the session whose notifications the response has; null for other responses
 */
async function send(
  answered: Response,
  response: ServedResponse,
  { quotas }: McpRouteOptions,
  listener: McpSession | null,
): Promise<void> {
  const headers = Object.fromEntries([...answered.headers].filter(([name]) => name !== 'connection'))
  response.writeHead(answered.status, headers)
  if (answered.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  const reader = answered.body.getReader()
  const left = (): void => {
    listener?.setListening(false)
    reader.cancel().catch(() => {})
  }
  response.once('close', left)
  if (response.destroyed) return left()
  const isStream = listener !== null && answered.ok
  const writer = new PartWriter(response, quotas.unread, () => streamComment)
  if (isStream) listener.setListening(true)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    // Notifications wait in the session while the client does not read.
    if (isStream) listener.setListening(false)
    await writer.write(value)
    if (isStream && !response.destroyed && !response.writableEnded) listener.setListening(true)
  }
  listener?.setListening(false)
  if (!response.writableEnded) response.end()
}
