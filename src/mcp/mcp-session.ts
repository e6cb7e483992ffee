import type { RequestListener } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { AgentAccess } from '../access/agents/agent-access.ts'
import type { AgentCaller } from '../access/agents/agent-caller.ts'
import type { PageTokens } from '../api/paging/page-tokens.ts'
import type { Clock } from '../clock.ts'
import { readPackageVersion } from '../config/package-version.ts'
import { ApiError, type Status } from '../errors.ts'
import { streamCommentMs } from '../event-stream.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { documentAddress } from '../model/address.ts'
import type { RoomRegistry } from '../rooms/room/room-registry.ts'
import { AgentApi } from './agent-api.ts'
import { dataNotice } from './document-data.ts'
import { mcpLimits } from './mcp-limits.ts'
import { permittedTools } from './permitted-tools.ts'
import { listResources, parseUri, readResource, resourceTemplates } from './resources.ts'
import { describeTool, runTool, toErrorResult } from './run-tool.ts'
import { SubscriptionRegistry } from './subscription-registry.ts'
import type { McpTool, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'
import { ToolPages } from './tool-pages.ts'
import { type AddressIds, findEditor } from './tools/editor-address.ts'
import { toolList } from './tools/tool-list.ts'

const instructions =
  'Weft stores documents that people and agents edit together. Read a document before you edit it, and send its version as ' +
  `\`baseVersion\`. Prefer small edits. ${dataNotice}`

/** One request of the agent, as a session uses it. */
export interface AgentRequest {
  readonly caller: AgentCaller
  readonly token: string
  /** Address of the client. */
  readonly address: string
}

export interface McpSessionOptions {
  readonly id: string
  /** The request that begins the session. */
  readonly first: AgentRequest
  /** Answers requests to REST. */
  readonly handle: RequestListener
  readonly pageTokens: PageTokens
  readonly agents: Pick<AgentAccess, 'require'>
  readonly rooms: Pick<RoomRegistry, 'open' | 'answerText'>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'mcpToolSeconds' | 'mcpSubscriptions'>
  readonly log: Log
  /** Called when a call of a tool or a request for resources begins. Returns the function that ends it; null if the agent has too many. */
  readonly beginCall: () => (() => void) | null
  /** Records the call of a tool that the token does not permit. */
  readonly onRejectedTool: (caller: AgentCaller, tool: string, address: string) => Promise<void>
  /** Called when the session must end. */
  readonly onExhausted: () => void
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** A session of an agent: one connection of the protocol, which can have many requests and streams. */
export class McpSession {
  readonly id: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly #options: McpSessionOptions
  readonly #server: McpServer['server']
  readonly #subscriptions: SubscriptionRegistry
  #latest: AgentRequest
  /** True while the client reads the stream of notifications. */
  #isListening = false
  #canceledCalls = 0

  constructor(options: McpSessionOptions) {
    this.id = options.id
    this.#options = options
    this.#latest = options.first
    this.transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => options.id,
      keepAliveMs: streamCommentMs,
    })
    this.#subscriptions = new SubscriptionRegistry({
      rooms: options.rooms,
      clock: options.clock,
      metrics: options.metrics,
      changed: (uri) => this.#notify(uri),
      readableUntil: (uri) => this.#readableUntil(uri),
    })
    this.#server = new McpServer(
      { name: 'weft', title: 'Weft', version: readPackageVersion() },
      { capabilities: { tools: {}, resources: { subscribe: true } }, instructions },
    ).server
    this.#setHandlers()
  }

  /** Must be called once, before the first request. */
  async begin(): Promise<void> {
    await this.#server.connect(this.transport)
  }

  /** The agent of the latest request. */
  get caller(): AgentCaller {
    return this.#latest.caller
  }

  /** Uses the token of a request from now on. It may be a newer one of the same agent. */
  use(request: AgentRequest): void {
    this.#latest = request
  }

  /** Called when the client begins or ends to read the stream of notifications, and when it reads too slowly. */
  setListening(isListening: boolean): void {
    this.#isListening = isListening
    if (isListening) this.#subscriptions.flush()
  }

  /** Called when the rights of the agent may have changed. */
  noteRightsChanged(): void {
    this.#subscriptions.noteRightsChanged()
  }

  async end(): Promise<void> {
    this.#isListening = false
    this.#subscriptions.end()
    await this.#server.close()
  }

  #setHandlers(): void {
    const server = this.#server
    Object.assign(server, {
      onerror: (err: Error) => this.#options.log.debug({ err }, 'an MCP session has an error'),
    })
    server.setRequestHandler(ListToolsRequestSchema, (_, extra) => ({
      tools: permittedTools(requestOf(extra).caller.identity).map(describeTool),
    }))
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      const tool = toolList.find(({ name }) => name === params.name)
      if (tool === undefined) throw new ProtocolError(ErrorCode.InvalidParams, 'unknown tool; see tools/list')
      return this.#callTool(tool, params.arguments ?? {}, extra)
    })
    server.setRequestHandler(ListResourcesRequestSchema, ({ params }, extra) =>
      this.#withContext(extra, 'resources/list', (context) => listResources(params?.cursor, context)),
    )
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resourceTemplates)
    server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }, extra) =>
      this.#withContext(extra, 'resources/read', (context) => readResource(uri, requireUri(uri), context)),
    )
    server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }, extra) =>
      this.#withContext(extra, 'resources/subscribe', async (context) => {
        await this.#subscribe(uri, context)
        return {}
      }),
    )
    server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
      this.#subscriptions.delete(uri)
      return {}
    })
  }

  async #callTool(tool: McpTool, args: object, extra: Extra): Promise<CallToolResult> {
    const stopTimer = this.#options.metrics.mcpToolSeconds.startTimer({ tool: tool.name })
    const ended = (result: ToolCallResult): unknown => stopTimer({ result })
    try {
      await this.#requirePermitted(tool, extra)
      const result = await this.#withContext(extra, tool.name, (context) => runTool(tool, args, context))
      ended(result.isError === true ? 'error' : 'ok')
      return result
    } catch (error) {
      ended(extra.signal.aborted ? 'canceled' : isRejection(error) ? 'rejected' : 'error')
      if (error instanceof ToolError) return toErrorResult(error)
      throw error
    }
  }

  /** @throws ToolError if the token does not permit the tool on any document */
  async #requirePermitted(tool: McpTool, extra: Extra): Promise<void> {
    const { caller, address } = requestOf(extra)
    if (permittedTools(caller.identity).includes(tool)) return
    await this.#options.onRejectedTool(caller, tool.name, address)
    throw new ToolError('mcp/tool-not-permitted', `the token does not permit the tool ${tool.name}`, {
      status: 'PERMISSION_DENIED',
    })
  }

  /** Ends the response to a canceled call, because it gets no result. */
  #noteCanceled({ requestId }: Extra): void {
    this.transport.closeSSEStream(requestId)
    this.#canceledCalls += 1
    if (this.#canceledCalls > mcpLimits.canceledCalls) this.#options.onExhausted()
  }

  /**
   * Runs work for a request, until the client cancels it or its time ends.
   * @throws ToolError if the time ends, or if the agent has too many calls; ProtocolError for a fault of the server, whose cause is only in the log
   */
  async #withContext<T>(extra: Extra, tool: string, work: (context: ToolContext) => Promise<T>): Promise<T> {
    const endCall = this.#options.beginCall()
    const timeout = AbortSignal.timeout(mcpLimits.callMs)
    const signal = AbortSignal.any([extra.signal, timeout])
    const canceled = (): void => this.#noteCanceled(extra)
    extra.signal.addEventListener('abort', canceled, { once: true })
    try {
      if (endCall === null) throw tooManyCalls()
      return await work(contextOf(this.#options, requestOf(extra), tool, signal))
    } catch (error) {
      if (extra.signal.aborted) throw new ProtocolError(ErrorCode.InvalidRequest, 'canceled')
      if (timeout.aborted)
        throw new ToolError('mcp/timeout', `the call took more than ${mcpLimits.callMs / 1000} s`, {
          status: 'UNAVAILABLE',
        })
      if (error instanceof ProtocolError) throw error
      if (error instanceof ToolError) {
        // The errors of tools are results. All others are errors of the protocol.
        if (toolList.some(({ name }) => name === tool)) throw error
        throw toProtocolError(error)
      }
      this.#options.log.error({ err: error, tool }, 'an MCP request failed')
      throw new ProtocolError(ErrorCode.InternalError, 'internal error; the log of the server has its cause')
    } finally {
      extra.signal.removeEventListener('abort', canceled)
      endCall?.()
    }
  }

  /** @throws ToolError, ProtocolError */
  async #subscribe(uri: string, context: ToolContext): Promise<void> {
    const ids = requireUri(uri)
    if (!this.#subscriptions.has(uri) && this.#subscriptions.size >= mcpLimits.subscriptions)
      throw new ProtocolError(
        ErrorCode.InvalidRequest,
        `the session has ${mcpLimits.subscriptions} subscriptions; end one of them`,
      )
    await findEditor(ids, context)
    const { caller } = this
    const address = documentAddress(caller.tenant, ids)
    await this.#subscriptions.add(uri, address, await this.#options.agents.require(caller, address, 'viewer'))
  }

  #notify(uri: string): boolean {
    if (!this.#isListening) return false
    this.#server
      .sendResourceUpdated({ uri })
      .catch((err: unknown) => this.#options.log.debug({ err }, 'an MCP notification could not be sent'))
    return true
  }

  /**
   * Returns the time until which the agent may read a resource; null if it may not any more.
   * @throws an error that does not answer this, such as a limit or a failure of the store
   */
  async #readableUntil(uri: string): Promise<number | null> {
    const ids = requireUri(uri)
    const { caller } = this
    const signal = AbortSignal.timeout(mcpLimits.callMs)
    const context = contextOf(this.#options, this.#latest, 'resources/subscribe', signal)
    try {
      await findEditor(ids, context)
      return await this.#options.agents.require(caller, documentAddress(caller.tenant, ids), 'viewer')
    } catch (error) {
      const isAnswer = error instanceof ToolError || error instanceof ApiError
      if (isAnswer && endingStatuses.includes(error.status)) return null
      throw error
    }
  }
}

/**
 * An error of the protocol. `McpError` of the SDK repeats its code in the message, which clients then show twice.
 */
class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: object) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Statuses of errors after which an agent can no longer read a resource. */
const endingStatuses: readonly string[] = [
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
] satisfies Status[]

/** How a tool call ended. `rejected`: the tool did not run. */
type ToolCallResult = 'ok' | 'error' | 'rejected' | 'canceled'

const rejectionCodes: readonly string[] = ['mcp/tool-not-permitted', 'mcp/too-many-calls']

const isRejection = (error: unknown): boolean =>
  error instanceof ToolError && rejectionCodes.includes(error.code)

const tooManyCalls = (): ToolError =>
  new ToolError('mcp/too-many-calls', `at most ${mcpLimits.callsAtOnce} calls at the same time`, {
    status: 'RESOURCE_EXHAUSTED',
    retryAfterSeconds: 1,
  })

/** @throws ProtocolError */
function requireUri(uri: string): AddressIds {
  const ids = parseUri(uri)
  if (ids === null)
    throw new ProtocolError(
      ErrorCode.InvalidParams,
      'the URI must be weft://{organizationId}/{documentId}/{editorId}',
    )
  return ids
}

const resourceNotFound = -32_002

function toProtocolError({ code, status, message, details }: ToolError): ProtocolError {
  const number =
    status === 'NOT_FOUND'
      ? resourceNotFound
      : status === 'INVALID_ARGUMENT'
        ? ErrorCode.InvalidParams
        : ErrorCode.InvalidRequest
  return new ProtocolError(number, message, { code, status, ...details })
}

/** Returns the request of the agent to which a message belongs. The route has put it there. */
const requestOf = ({ authInfo }: Extra): AgentRequest => authInfo?.extra as unknown as AgentRequest

function contextOf(
  { handle, pageTokens, rooms }: McpSessionOptions,
  { caller, token, address }: AgentRequest,
  tool: string,
  signal: AbortSignal,
): ToolContext {
  const { grants } = caller.identity
  return {
    api: new AgentApi({ handle, token, client: { address, tool }, signal }),
    answerText: (ids, json, query) =>
      rooms.answerText(documentAddress(caller.tenant, ids), json, query, mcpLimits.documentCharacters),
    pages: new ToolPages(pageTokens, caller),
    agent: {
      organizationIds: [...new Set((grants ?? []).map(({ organizationId }) => organizationId))],
    },
  }
}
