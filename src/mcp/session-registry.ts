import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import type { AgentCaller } from '../access/agents/agent-caller.ts'
import type { RealtimeAccess } from '../access/realtime-access.ts'
import type { PageTokens } from '../api/paging/page-tokens.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { exhausted } from '../quota/limits.ts'
import type { RoomRegistry } from '../rooms/room/room-registry.ts'
import { mcpLimits } from './mcp-limits.ts'
import { type AgentRequest, McpSession, type McpSessionOptions } from './mcp-session.ts'

export interface McpSessionRegistryOptions {
  /** Answers requests to REST. */
  readonly handle: RequestListener
  readonly pageTokens: PageTokens
  readonly access: Pick<RealtimeAccess, 'refusalOf' | 'onWithdrawal' | 'onChange'>
  readonly agents: McpSessionOptions['agents']
  readonly rooms: Pick<RoomRegistry, 'open' | 'answerText'>
  readonly clock: Clock
  readonly metrics: McpSessionOptions['metrics'] & Pick<Metrics, 'mcpSessions'>
  readonly log: Log
  readonly onRejectedTool: McpSessionOptions['onRejectedTool']
}

interface OpenSession {
  readonly session: McpSession
  /** The agent to which the session belongs. */
  readonly owner: string
  readonly apiKey: string
  usedAt: number
  /** Number of requests and streams that are open. */
  open: number
  cancelExpiry: () => void
}

/** Milliseconds between two searches for idle sessions. */
const sweepMs = 60_000
/** Maximum milliseconds of a timer. */
const timerMsMax = 2_147_483_647

/** The sessions of all agents on this node. A session ends with its token, after some time without use, or on request. */
export class McpSessionRegistry {
  readonly #options: McpSessionRegistryOptions
  /** In the order of their last use. */
  readonly #all = new Map<string, OpenSession>()
  /** Number of running calls, by agent. */
  readonly #calls = new Map<string, number>()
  readonly #unsubscribe: readonly (() => void)[]
  #cancelSweep: (() => void) | null = null

  constructor(options: McpSessionRegistryOptions) {
    this.#options = options
    const { access } = options
    this.#unsubscribe = [
      access.onWithdrawal((concerns) => {
        for (const { session } of this.#all.values())
          if (concerns(session.caller.identity)) void this.#recheck(session)
      }),
      access.onChange(() => {
        for (const { session } of this.#all.values()) session.noteRightsChanged()
      }),
    ]
  }

  get size(): number {
    return this.#all.size
  }

  /**
   * Begins a session. It ends no other session: the caller must call `keep` after the session has been accepted, and
   * otherwise `end`.
   * @throws ApiError RESOURCE_EXHAUSTED if the API key or the node has too many sessions, and all are in use
   */
  async begin(request: AgentRequest): Promise<McpSession> {
    const owner = ownerOf(request.caller)
    const { apiKey } = request.caller.tenant
    this.#requireRoom(owner, apiKey)
    const { handle, pageTokens, rooms, agents, clock, metrics, log } = this.#options
    const id = randomUUID()
    const session = new McpSession({
      id,
      first: request,
      handle,
      pageTokens,
      rooms,
      agents,
      clock,
      metrics,
      log,
      onRejectedTool: this.#options.onRejectedTool,
      beginCall: () => this.#beginCall(owner),
      onExhausted: () => void this.end(session),
    })
    this.#all.set(id, { session, owner, apiKey, usedAt: clock.now(), open: 0, cancelExpiry: () => {} })
    metrics.mcpSessions.set(this.#all.size)
    this.#expireWithToken(session)
    this.#sweepLater()
    await session.begin()
    return session
  }

  /** Keeps a session that has been accepted. Ends others if the agent, the API key or the node has too many now. */
  async keep(session: McpSession): Promise<void> {
    const entry = this.#all.get(session.id)
    if (entry === undefined) return
    const own = this.#entries(({ owner }) => owner === entry.owner)
    const [oldest] = own
    if (oldest !== undefined && own.length > mcpLimits.sessionsPerAgent) await this.end(oldest.session)
    const ofKey = this.#entries(({ apiKey }) => apiKey === entry.apiKey)
    const idle = ofKey.find(isIdle)
    if (idle !== undefined && ofKey.length > mcpLimits.sessionsPerKey) await this.end(idle.session)
    const replaced = this.#all.size > mcpLimits.sessions ? this.#idleOfLargestKey() : undefined
    if (replaced !== undefined) await this.end(replaced.session)
  }

  /** Returns a session of the agent; null if there is none with this id. */
  find(id: string, caller: AgentCaller): McpSession | null {
    const found = this.#all.get(id)
    return found?.owner === ownerOf(caller) ? found.session : null
  }

  /** Counts a request of a session as use. Returns the function that ends the use. */
  use(session: McpSession, request: AgentRequest): () => void {
    const entry = this.#all.get(session.id)
    if (entry === undefined) return () => {}
    session.use(request)
    this.#expireWithToken(session)
    entry.open += 1
    this.#touch(session.id, entry)
    return () => {
      entry.open -= 1
      if (this.#all.get(session.id) === entry) this.#touch(session.id, entry)
    }
  }

  async end(session: McpSession): Promise<void> {
    const entry = this.#all.get(session.id)
    if (entry === undefined) return
    this.#all.delete(session.id)
    this.#options.metrics.mcpSessions.set(this.#all.size)
    entry.cancelExpiry()
    await session.end()
  }

  /** Ends all sessions. No session can begin afterwards, because the server does not answer calls any more. */
  async endAll(): Promise<void> {
    for (const end of this.#unsubscribe) end()
    this.#cancelSweep?.()
    this.#cancelSweep = null
    await Promise.all([...this.#all.values()].map(({ session }) => this.end(session)))
  }

  /** @throws ApiError RESOURCE_EXHAUSTED if no session can end in favor of another one */
  #requireRoom(owner: string, apiKey: string): void {
    // The session then takes the place of another session of its agent.
    if (this.#entries((each) => each.owner === owner).length >= mcpLimits.sessionsPerAgent) return
    const ofKey = this.#entries((each) => each.apiKey === apiKey)
    if (ofKey.length >= mcpLimits.sessionsPerKey && !ofKey.some(isIdle))
      throw exhausted('mcpSessionsPerKey', mcpLimits.sessionsPerKey, {
        problem: 'the agents of the API key have too many MCP sessions in use',
        remedy: 'end some of them',
        retryAfterSeconds: 60,
      })
    if (this.#all.size >= mcpLimits.sessions && this.#idleOfLargestKey() === undefined)
      throw exhausted('mcpSessions', mcpLimits.sessions, {
        problem: 'the server has too many MCP sessions in use',
        remedy: 'end some of them',
        retryAfterSeconds: 60,
      })
  }

  /** Returns the sessions that match, the one that was not used for the longest time first. */
  #entries(matches: (entry: OpenSession) => boolean): readonly OpenSession[] {
    return [...this.#all.values()].filter(matches)
  }

  /** Returns the idle session that ends if the node is full: the oldest one of the API key with the most idle ones. */
  #idleOfLargestKey(): OpenSession | undefined {
    const byKey = new Map<string, OpenSession[]>()
    for (const entry of this.#all.values()) {
      if (!isIdle(entry)) continue
      const found = byKey.get(entry.apiKey)
      if (found === undefined) byKey.set(entry.apiKey, [entry])
      else found.push(entry)
    }
    let largest: readonly OpenSession[] = []
    for (const entries of byKey.values()) if (entries.length > largest.length) largest = entries
    return largest[0]
  }

  #touch(id: string, entry: OpenSession): void {
    entry.usedAt = this.#options.clock.now()
    this.#all.delete(id)
    this.#all.set(id, entry)
  }

  #expireWithToken(session: McpSession): void {
    const entry = this.#all.get(session.id)
    if (entry === undefined) return
    entry.cancelExpiry()
    const { clock } = this.#options
    const leftMs = session.caller.identity.expiresAt - clock.now()
    entry.cancelExpiry =
      leftMs > timerMsMax
        ? clock.after(timerMsMax, () => this.#expireWithToken(session))
        : clock.after(Math.max(0, leftMs), () => void this.end(session))
  }

  async #recheck(session: McpSession): Promise<void> {
    const { identity, origin } = session.caller
    try {
      if ((await this.#options.access.refusalOf(identity, origin)) === null) return
    } catch (err) {
      this.#options.log.debug({ err }, 'the token of an MCP session could not be checked')
    }
    await this.end(session)
  }

  #beginCall(owner: string): (() => void) | null {
    const running = this.#calls.get(owner) ?? 0
    if (running >= mcpLimits.callsAtOnce) return null
    this.#calls.set(owner, running + 1)
    return () => {
      const left = (this.#calls.get(owner) ?? 1) - 1
      if (left === 0) this.#calls.delete(owner)
      else this.#calls.set(owner, left)
    }
  }

  #sweepLater(): void {
    this.#cancelSweep ??= this.#options.clock.after(sweepMs, () => {
      this.#cancelSweep = null
      const before = this.#options.clock.now() - mcpLimits.idleMs
      for (const { session, usedAt, open } of this.#all.values())
        if (open === 0 && usedAt < before) void this.end(session)
      if (this.#all.size > 0) this.#sweepLater()
    })
  }
}

/** An idle session has no request and no stream, so it can end without an error for a client that waits. */
const isIdle = ({ open }: OpenSession): boolean => open === 0

const ownerOf = ({ tenant, identity }: AgentCaller): string =>
  JSON.stringify([tenant.workspaceId, tenant.apiKey, identity.userId])
