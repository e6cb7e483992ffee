import type { IncomingMessage } from 'node:http'
import { readBearer } from '../../core/access/credentials/credential-headers.ts'
import { ApiError } from '../../core/base/errors.ts'
import { defineCapability } from '../../rest/capability.ts'
import type { Edge } from '../../rest/http/operation-steps.ts'
import { limitCaller, limitMessages } from '../../rest/http/rate-limits.ts'
import { ClientDisconnectedError, checkContentType, readRequestJson } from '../../rest/http/request-body.ts'
import { sendSmall } from '../../rest/http/sending.ts'
import type { ServedResponse } from '../../rest/http/served-response.ts'
import type { ServedRoute } from '../../rest/http/served-route.ts'
import { setCaller } from '../../rest/http/traced-request.ts'
import type { Services } from '../../rest/services.ts'
import type { AgentRequest, AgentServer } from './agent-server.ts'
import { mcpPath } from './mcp-limits.ts'

/**
 * Creates the route of the MCP server (streamable HTTP without sessions). The SDK is loaded at the first request of an
 * agent, so that servers without agents do not need its memory.
 */
function mcpRoute(services: Services, edge: Edge): ServedRoute {
  let loading: Promise<AgentServer> | null = null
  const load = async (): Promise<AgentServer> => {
    const { AgentServer } = await import('./agent-server.ts')
    return new AgentServer(services, edge)
  }
  return {
    path: mcpPath,
    label: mcpPath,
    methods: {
      async POST(request, response) {
        try {
          await answer(request, response, services, edge, () => (loading ??= load()))
        } catch (error) {
          if (!(error instanceof ClientDisconnectedError)) noteError(error, request, response, edge)
          throw error
        }
      },
    },
  }
}

function noteError(
  error: unknown,
  request: IncomingMessage,
  response: ServedResponse,
  { auditor }: Edge,
): void {
  const { caller = null, requestId } = response.weftLocals
  auditor.answered(mcpPath, { caller, request, requestId }, { error })
  if (error instanceof ApiError && error.status === 'UNAUTHENTICATED' && !response.headersSent)
    response.setHeader('www-authenticate', 'Bearer realm="weft"')
}

async function answer(
  request: IncomingMessage,
  response: ServedResponse,
  services: Services,
  edge: Edge,
  load: () => Promise<AgentServer>,
): Promise<void> {
  const bodyBytesMax = services.config.maxBodyBytes
  const ready = edge.readiness()
  if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
  const agent = await authenticate(request, response, services, edge)
  const meter = await limitCaller(edge.quotas, agent.caller, request, response, bodyBytesMax)
  checkContentType(request)
  const { body } = await readRequestJson(request, bodyBytesMax, meter)
  // The request itself has counted as one message.
  if (Array.isArray(body) && body.length > 1) limitMessages(edge.quotas, agent.caller, body.length - 1)
  const left = new AbortController()
  response.once('close', () => left.abort())
  const server = await load()
  if (response.destroyed) throw new ClientDisconnectedError('the client disconnected')
  const standard = new Request(`http://localhost${mcpPath}`, {
    method: 'POST',
    headers: standardHeaders(request),
    signal: left.signal,
  })
  const answered = await server.answer(standard, body, agent)
  if (answered === null) throw new ClientDisconnectedError('the client disconnected')
  const text = await answered.text()
  if (text === '') response.writeHead(answered.status).end()
  else sendSmall(response, answered.status, text)
}

/** @throws ApiError UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE */
async function authenticate(
  request: IncomingMessage,
  response: ServedResponse,
  { agents, origins }: Services,
  { auditor }: Edge,
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
    return { caller, token, address: String(response.weftLocals.address) }
  } catch (error) {
    auditor.refused('realtime', error, request)
    throw error
  }
}

/** Headers that the transport of the SDK reads. */
const readHeaders = ['accept', 'content-type', 'mcp-protocol-version']

const standardHeaders = ({ headers }: IncomingMessage): [string, string][] =>
  readHeaders.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })

/** The MCP server, through which agents read and edit documents. */
export const agents = defineCapability({
  name: 'agents',
  routes: (services, edge) => [mcpRoute(services, edge)],
})
