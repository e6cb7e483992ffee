import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientAddress } from '../access/client-address.ts'
import { forwardedRequests } from '../access/forwarded-requests.ts'
import type { Identity } from '../access/identity.ts'
import { TokenRejectedError } from '../access/tokens/realtime-tokens.ts'
import { steadyTime } from '../base/clock.ts'
import type { ApiError } from '../base/errors.ts'
import { ForwardError, movedHeader } from '../forwarding/forwarder.ts'
import { type DocumentPath, documentAddress, documentPrefix, type Tenant } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import { WorkTurns } from '../quota/work-turns.ts'
import type { Key } from '../store/engine.ts'
import {
  Admission,
  type AdmissionLimits,
  type AdmissionTicket,
  countedAddress,
} from './admission/admission.ts'
import { handshakeError, rejectUpgrade, unknownPath } from './admission/http-rejection.ts'
import { type Requested, ServerFaults } from './admission/rejection-log.ts'
import { type DocumentRequest, readSyncRequest, type SyncRequest } from './admission/sync-request.ts'
import { HocuspocusEndpoint } from './connect/hocuspocus-endpoint.ts'
import { SessionManager } from './connect/session-manager.ts'
import { UpgradeRejecter } from './connect/upgrade-rejecter.ts'
import { closeOfForward, WebsocketForwarder } from './connect/websocket-forwarder.ts'
import { HttpTransport } from './http/http-transport.ts'
import { SocketAuthentication } from './session/socket-authentication.ts'
import { SharedFrameReceiver } from './socket/shared-frame-receiver.ts'
import { sharedFramesPath } from './socket/shared-frames.ts'
import type { UpgradeRequest } from './socket/websocket-upgrader.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

interface SyncOptions extends AdmissionLimits {
  /** True if the first edit of a client with the role editor creates a document that does not exist. */
  readonly createOnConnect: boolean
  /** Maximum milliseconds from the upgrade request until the token is checked. */
  readonly authMs: number
  /** True if only loopback hosts and origins may connect. */
  readonly loopbackOnly: boolean
  /** Number of reverse proxies whose `X-Forwarded-For` header is trusted. */
  readonly proxies: number
}

/**
 * Maximum number of upgrades that are answered in a tick of the event loop. Each takes up to 0.5 ms together with the
 * first message of its client. Clients that connect at once would otherwise delay all others by the sum.
 */
const upgradesPerTick = 16

/** Interval in milliseconds at which all sessions are checked. */
const checkMs = 500

/**
 * Accepts the websocket upgrades of one HTTP server: checks each request, authenticates the client, and
 * passes the client to its endpoint. `http` does the same for clients without a websocket.
 */
export class SyncServer {
  readonly #options: SyncOptions
  readonly #dependencies: SyncDependencies
  readonly #admission: Admission
  readonly #rejecter: UpgradeRejecter
  readonly #authentication: SocketAuthentication
  readonly #sessionManager: SessionManager
  readonly #hocuspocus: HocuspocusEndpoint
  readonly #websocketForwarder: WebsocketForwarder
  /** Serves the clients without a websocket. */
  readonly http: HttpTransport
  /** All open connections that have requested an upgrade. */
  readonly #connections = new Map<Duplex, AdmissionTicket>()
  readonly #turns = new WorkTurns(upgradesPerTick)
  readonly #checkTimer: NodeJS.Timeout

  constructor(options: SyncOptions, given: Omit<SyncDependencies, 'faults' | 'time' | 'frameReceiver'>) {
    const { authMs } = options
    const dependencies = {
      ...given,
      faults: new ServerFaults(given),
      time: steadyTime(given.clock),
      frameReceiver: new SharedFrameReceiver(given.forwarder, given.metrics),
    }
    this.#options = options
    this.#dependencies = dependencies
    this.#admission = new Admission(options, options.loopbackOnly)
    this.#rejecter = new UpgradeRejecter(this.#admission, dependencies)
    this.#authentication = new SocketAuthentication(authMs, this.#admission, dependencies)
    this.#sessionManager = new SessionManager(options.createOnConnect, this.#authentication, dependencies)
    this.#hocuspocus = new HocuspocusEndpoint(this.#authentication, this.#sessionManager, dependencies)
    this.#websocketForwarder = new WebsocketForwarder(dependencies)
    this.http = new HttpTransport({
      ...dependencies,
      proxies: options.proxies,
      authentication: this.#authentication,
      sessionManager: this.#sessionManager,
      hocuspocus: this.#hocuspocus,
    })
    this.#checkTimer = setInterval(() => this.#check(), checkMs)
    this.#checkTimer.unref()
  }

  /**
   * Handles an upgrade request of the HTTP server when its address has a turn. Does nothing if the connection is
   * destroyed before. Never throws.
   */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (connection.destroyed) return
    connection.on('error', ignoreConnectionError)
    const ticket: AdmissionTicket = { address: null, workspaceId: null }
    this.#connections.set(connection, ticket)
    connection.on('close', () => this.#connectionClosed(connection, ticket))
    this.#dependencies.forwarder.receive(request)
    const upgrade = { request, connection, head, address: clientAddress(request, this.#options.proxies) }
    void this.#turns.next(upgrade.address).then(() => {
      if (!connection.destroyed) this.#admit(upgrade, ticket)
    })
  }

  #admit(upgrade: UpgradeRequest, ticket: AdmissionTicket): void {
    const { request, connection, address } = upgrade
    const requested = readSyncRequest(request)
    if (requested.kind === 'otherPath') return this.#rejectUpgrade(upgrade, unknownPath(request.url ?? ''))
    const error = handshakeError(request)
    if (error !== null) return this.#rejectUpgrade(upgrade, error)
    const forwarded = forwardedRequests.get(request)
    if (forwarded !== undefined && request.url === sharedFramesPath && this.#admission.draining === null)
      return this.#dependencies.acceptor.acceptSharedFrames(upgrade, forwarded.node)
    const counted = countedAddress(request, address)
    const problem = this.#admission.problemOf(request.headers, counted, requested)
    if (problem !== null || requested.kind === 'invalid') {
      return this.#reject(
        upgrade,
        problem ??
          close('badRequest', 'invalid address; expected /sync/{organizationId}/{documentId}/{editorId}'),
        requested.kind === 'invalid' ? (request.url ?? '') : pathOf(requested),
      )
    }
    if (requested.kind === 'multiplexed') {
      this.#admission.countConnection(ticket, counted)
      return this.#hocuspocus.accept(upgrade, requested)
    }
    this.#authenticate(upgrade, requested, ticket).catch((error: unknown) => {
      this.#dependencies.logger.error({ err: error }, 'upgrade failed')
      connection.destroy()
    })
  }

  /**
   * Rejects new clients from now on and closes all sockets with `reason`. Resolves when the sockets are
   * closed, or after about `timeoutMs` milliseconds.
   * @param spreadMs milliseconds over which the closes are spread, because the clients reconnect to other
   * nodes
   */
  async drain(reason: Close, timeoutMs: number, spreadMs = 0): Promise<void> {
    const deadline = performance.now() + timeoutMs
    this.#admission.drain(reason)
    const endpoints = [this.#sessionManager, this.#hocuspocus, this.#websocketForwarder, this.http]
    await staggerCalls(
      endpoints.flatMap((endpoint) => endpoint.closersFor(reason)),
      spreadMs,
    )
    this.#dependencies.acceptor.sharedFrames.close()
    while (this.#connections.size + this.http.size > 0 && performance.now() < deadline) await sleep(10)
    for (const connection of this.#connections.keys()) connection.destroy()
    this.http.terminateAll()
    this.end()
  }

  /** Stops the periodic checks of the sessions and the watches of access and credentials. */
  end(): void {
    clearInterval(this.#checkTimer)
    this.#dependencies.frameReceiver.close()
    this.#sessionManager.end()
    this.#dependencies.faults.end()
  }

  #check(): void {
    this.#sessionManager.check()
    this.http.check()
  }

  #reject(upgrade: UpgradeRequest, reason: Close, requested: Requested, tenant: Tenant | null = null): void {
    this.#authentication.refuse(upgrade.address, reason, requested, tenant)
    this.#rejecter.reject(upgrade, reason, tenant?.workspaceId)
  }

  #rejectUpgrade({ request, connection, address }: UpgradeRequest, error: ApiError): void {
    this.#dependencies.rejections.upgrade(address, error, request.url ?? '')
    rejectUpgrade(request, connection, error)
  }

  #connectionClosed(connection: Duplex, ticket: AdmissionTicket): void {
    this.#admission.release(ticket)
    this.#connections.delete(connection)
  }

  /** Forwards an authenticated client, or rejects it. Resolves with false if this node owns the document. */
  async #forward(
    upgrade: UpgradeRequest,
    document: Key,
    { path }: DocumentRequest,
    tenant: Tenant,
  ): Promise<boolean> {
    const { request, connection } = upgrade
    try {
      return await this.#websocketForwarder.forward(upgrade, document, path.editorId)
    } catch (error) {
      if (!(error instanceof ForwardError)) throw error
      if (connection.destroyed) return true
      // The node that has forwarded the request forwards it again.
      if (forwardedRequests.has(request)) rejectUpgrade(request, connection, error, { [movedHeader]: 'true' })
      else this.#reject(upgrade, closeOfForward(error), path, tenant)
      return true
    }
  }

  async #authenticate(
    upgrade: UpgradeRequest,
    requested: DocumentRequest,
    ticket: AdmissionTicket,
  ): Promise<void> {
    const { request, connection, address } = upgrade
    const counted = countedAddress(request, address)
    this.#dependencies.tracer?.of(requested.path)?.('connect', {
      clientAddress: address,
      protocol: 'y-websocket',
    })
    this.#admission.countConnection(ticket, counted)
    const authenticated = this.#admission.countUnauthenticated(counted)
    const { withdrawals } = this.#sessionManager
    let identity: Identity | TokenRejectedError
    try {
      identity = await this.#authentication.authenticate(requested.token, requested.origin)
    } finally {
      authenticated()
    }
    if (connection.destroyed) return
    if (identity instanceof TokenRejectedError)
      return this.#rejecter.reject(upgrade, this.#authentication.reject(identity, address, requested.path))
    const { workspaceId } = identity.tenant
    const full = this.#admission.workspaceProblem(workspaceId)
    if (full !== null) return this.#reject(upgrade, full, requested.path, identity.tenant)
    this.#admission.countWorkspace(ticket, workspaceId)
    const document = documentPrefix(
      documentAddress(identity.tenant, requested.path),
      requested.path.documentId,
    )
    if (this.#dependencies.forwarder.isElsewhere(document)) {
      if (await this.#forward(upgrade, document, requested, identity.tenant)) return
      if (connection.destroyed) return
    }
    this.#dependencies.acceptor.accept(upgrade, workspaceId, (socket) =>
      this.#sessionManager.admitDocument(socket, requested, identity, address, withdrawals),
    )
  }
}

const pathOf = (requested: SyncRequest): DocumentPath | null =>
  requested.kind === 'document' ? requested.path : null

/**
 * Ignores an error of a connection, because a `close` event follows each error. Without this listener, an
 * error would end the process.
 */
const ignoreConnectionError = (): void => {}

/**
 * Average milliseconds between two closes. The closes are spread, so that the clients do not all connect to
 * the other nodes at the same moment.
 */
const intervalMs = 10
/** Closes that are due within this number of milliseconds run in one slice. */
const sliceMs = 20

/**
 * Calls all functions, each at a random time within `overMs` milliseconds. For few functions, the total time
 * is shorter: `intervalMs` for each function.
 */
export async function staggerCalls(calls: readonly (() => void)[], overMs: number): Promise<void> {
  const withinMs = Math.min(overMs, calls.length * intervalMs)
  const schedule = calls.map((end) => ({ end, at: Math.random() * withinMs })).sort((a, b) => a.at - b.at)
  const startedAt = performance.now()
  for (const { end, at } of schedule) {
    const remainingMs = startedAt + at - performance.now()
    if (remainingMs > sliceMs) await new Promise((resolve) => setTimeout(resolve, remainingMs))
    end()
  }
}
