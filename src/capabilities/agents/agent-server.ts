import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelledNotificationSchema,
  ErrorCode,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { AgentCaller, AgentIdentity } from '../../core/access/credentials/authenticator.ts'
import { roleWithinPolicies } from '../../core/access/roles/roles.ts'
import { ApiError } from '../../core/base/errors.ts'
import { readPackageVersion } from '../../core/base/package-version.ts'
import { type AccessRole, roleStrength } from '../../core/directory/store/records.ts'
import { documentAddress } from '../../core/model/address.ts'
import { KeyedCounter } from '../../core/quota/keyed-counter.ts'
import type { Edge } from '../../rest/http/operation-steps.ts'
import { agentKeyOf } from '../../rest/http/rate-limits.ts'
import type { Services } from '../../rest/services.ts'
import { AgentApi } from './agent-api.ts'
import { mcpLimits } from './mcp-limits.ts'
import { describeTool, runTool, toErrorResult } from './run-tool.ts'
import { dataNotice, type McpTool, type ToolContext, ToolPages } from './tool.ts'
import { commentTool } from './tools/comment.ts'
import { editDocumentTool } from './tools/edit-document.ts'
import { listChangesTool } from './tools/list-changes.ts'
import { listDocumentsTool } from './tools/list-documents.ts'
import { readDocumentTool } from './tools/read-document.ts'
import { searchTool } from './tools/search.ts'
import { suggestTool } from './tools/suggest.ts'
import { undoMyChangesTool } from './tools/undo-my-changes.ts'

/** All tools, in the order in which clients get them. */
export const toolList: readonly McpTool[] = [
  listDocumentsTool,
  searchTool,
  readDocumentTool,
  editDocumentTool,
  suggestTool,
  commentTool,
  listChangesTool,
  undoMyChangesTool,
]

/** Returns the strongest role that a token can give on any document. The directory can give a weaker one. */
function strongestRole(identity: AgentIdentity): AccessRole | null {
  const { admin, grants } = identity
  if (admin || grants === null) return roleWithinPolicies(identity, 'editor')
  const strongest = grants.reduce<AccessRole | null>(
    (role, grant) => (roleStrength(grant.accessRole) > roleStrength(role) ? grant.accessRole : role),
    null,
  )
  return roleWithinPolicies(identity, strongest)
}

/**
 * Returns the tools that a token can use on some document. The role on the document of each call decides in
 * addition.
 */
export function permittedTools(identity: AgentIdentity): readonly McpTool[] {
  const strength = roleStrength(strongestRole(identity))
  return toolList.filter(({ role }) => roleStrength(role) <= strength)
}

const instructions =
  'Weft stores documents that people and agents edit together. Read a document before you edit it, and send its version as ' +
  `\`baseVersion\`. Prefer small edits. ${dataNotice}`

/** The agent that sends a request. */
export interface AgentRequest {
  readonly caller: AgentCaller
  readonly token: string
  /** Address of the client. */
  readonly address: string
}

/**
 * Answers the requests of agents. No request depends on an earlier one, so each has a server of the SDK of its own, and
 * any node can answer it.
 */
export class AgentServer {
  readonly #services: Services
  readonly #edge: Edge
  readonly #running = new KeyedCounter(mcpLimits.callsAtOnce)
  /** Shared, because the SDK would create one for each request, which takes longer than all other steps. */
  readonly #validator = new AjvJsonSchemaValidator()

  constructor(services: Services, edge: Edge) {
    this.#services = services
    this.#edge = edge
  }

  /**
   * Answers the messages of a request.
   * @param request its signal is aborted when the client disconnects: the calls then take no further step
   * @returns null if the client has disconnected
   */
  async answer(request: Request, messages: unknown, agent: AgentRequest): Promise<Response | null> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    const server = this.#serverFor(agent)
    await server.connect(transport)
    const left = new Promise<null>((resolve) => {
      request.signal.addEventListener('abort', () => resolve(null), { once: true })
    })
    try {
      return await Promise.race([transport.handleRequest(request, { parsedBody: messages }), left])
    } finally {
      await server.close()
    }
  }

  #serverFor(agent: AgentRequest): McpServer['server'] {
    const { server } = new McpServer(
      { name: 'weft', title: 'Weft', version: readPackageVersion() },
      {
        capabilities: { tools: {} },
        instructions,
        jsonSchemaValidator: this.#validator,
      },
    )
    Object.assign(server, {
      onerror: (err: Error) => this.#services.log.debug({ err }, 'an MCP request has an error'),
    })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: permittedTools(agent.caller.identity).map(describeTool),
    }))
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
      const tool = toolList.find(({ name }) => name === params.name)
      if (tool === undefined) throw new ProtocolError(ErrorCode.InvalidParams, 'unknown tool; see tools/list')
      return this.#callTool(tool, params.arguments ?? {}, agent, signal)
    })
    // The call that it names is part of another request. If it were part of this one, no response would ever follow.
    server.setNotificationHandler(CancelledNotificationSchema, () => {})
    return server
  }

  async #callTool(
    tool: McpTool,
    args: object,
    agent: AgentRequest,
    left: AbortSignal,
  ): Promise<CallToolResult> {
    const stopTimer = this.#services.metrics.mcpToolSeconds.startTimer({ tool: tool.name })
    const ended = (result: ToolCallResult): unknown => stopTimer({ result })
    try {
      await this.#requirePermitted(tool, agent)
      const result = await this.#run(tool, args, agent, left)
      ended(result.isError === true ? 'error' : 'ok')
      return result
    } catch (error) {
      ended(left.aborted ? 'canceled' : isRejection(error) ? 'rejected' : 'error')
      if (error instanceof ApiError) return toErrorResult(error)
      throw error
    }
  }

  /** @throws ApiError if the token does not permit the tool on any document */
  async #requirePermitted(tool: McpTool, { caller, address }: AgentRequest): Promise<void> {
    if (permittedTools(caller.identity).includes(tool)) return
    await this.#edge.auditor.toolRejected(caller, tool.name, address)
    throw new ApiError(
      'mcp/tool-not-permitted',
      `the token does not permit the tool ${tool.name}; use those of tools/list`,
    )
  }

  /**
   * Runs a tool, until the client disconnects or the time of the call ends.
   * @throws ApiError if the time ends, or if the agent has too many calls; ProtocolError if the client has
   * disconnected, or for a fault of the server, whose cause is only in the log
   */
  async #run(tool: McpTool, args: object, agent: AgentRequest, left: AbortSignal): Promise<CallToolResult> {
    const key = agentKeyOf(agent.caller)
    const isFull = this.#running.isFull(key)
    const endCall = this.#running.enter(key)
    const timeout = AbortSignal.timeout(mcpLimits.callMs)
    const signal = AbortSignal.any([left, timeout])
    try {
      if (isFull) throw tooManyCalls()
      return await runTool(tool, args, contextOf(this.#services, this.#edge, agent, tool.name, signal))
    } catch (error) {
      if (left.aborted) throw new ProtocolError(ErrorCode.InvalidRequest, 'canceled')
      if (timeout.aborted)
        throw new ApiError(
          'mcp/timeout',
          `the call took more than ${mcpLimits.callMs / 1000} s; read or change a smaller part`,
        )
      if (error instanceof ApiError) throw error
      this.#services.log.error({ err: error, tool: tool.name }, 'an MCP request failed')
      throw new ProtocolError(ErrorCode.InternalError, 'internal error; the log of the server has its cause')
    } finally {
      endCall()
    }
  }
}

/**
 * An error of the protocol. `McpError` of the SDK repeats its code in the message, which clients then show twice.
 */
class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** How a tool call ended. `rejected`: the tool did not run. */
type ToolCallResult = 'ok' | 'error' | 'rejected' | 'canceled'

const rejectionCodes: readonly string[] = ['mcp/tool-not-permitted', 'mcp/too-many-calls']

const isRejection = (error: unknown): boolean =>
  error instanceof ApiError && rejectionCodes.includes(error.code)

const tooManyCalls = (): ApiError =>
  new ApiError('mcp/too-many-calls', `at most ${mcpLimits.callsAtOnce} calls at the same time`, {
    retryAfterSeconds: 1,
  })

function contextOf(
  { pageTokens, rooms }: Services,
  { handle }: Edge,
  { caller, token, address }: AgentRequest,
  tool: string,
  signal: AbortSignal,
): ToolContext {
  const { grants } = caller.identity
  return {
    api: new AgentApi({ handle, token, client: { address, tool }, signal }),
    answerText: (ids, json, query) =>
      rooms.compute(documentAddress(caller.tenant, ids), {
        is: 'text',
        json,
        query,
        charactersMax: mcpLimits.documentCharacters,
      }),
    pages: new ToolPages(pageTokens, caller),
    organizationIds: [...new Set((grants ?? []).map(({ organizationId }) => organizationId))],
  }
}
