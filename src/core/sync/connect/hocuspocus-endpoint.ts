import { forwardedRequests } from '../../access/forwarded-requests.ts'
import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import { type DocumentPath, documentAddress, documentPrefix, type Tenant } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { documentMoved } from '../../rooms/room/room-errors.ts'
import { type AdmissionTicket, countedAddress } from '../admission/admission.ts'
import { type MultiplexedRequest, readDocumentPath } from '../admission/sync-request.ts'
import { ConnectionTunnels } from '../multiplex/connection-tunnels.ts'
import type { DocumentChannel } from '../multiplex/document-channel.ts'
import { MultiplexedSocket } from '../multiplex/multiplexed-socket.ts'
import { PerDocumentProtocols } from '../protocols/hocuspocus.ts'
import type { SocketAuthentication } from '../session/socket-authentication.ts'
import { SocketTokens } from '../session/socket-tokens.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { UpgradeRequest } from '../socket/websocket-upgrader.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'
import type { SessionManager } from './session-manager.ts'

/** Maximum milliseconds that a socket may stay open without documents. */
const idleMs = 60_000

/** A multiplexed websocket with the data that its sessions need. */
interface MultiplexedConnection {
  readonly socket: MultiplexedSocket
  readonly tokens: SocketTokens
  readonly request: MultiplexedRequest
  readonly clientAddress: string
  /** Removes the connection from the count of unauthenticated connections. */
  readonly authenticated: () => void
  /** Tunnels to the nodes that own documents of the connection; null if another node has forwarded the connection. */
  readonly tunnels: ConnectionTunnels | null
}

/**
 * The endpoint of HocuspocusProvider. One websocket carries any number of documents, and the client sends a
 * token for each document. The websocket is authenticated with its first valid token.
 */
export class HocuspocusEndpoint {
  readonly #authentication: SocketAuthentication
  readonly #sessionManager: SessionManager
  readonly #dependencies: SyncDependencies
  readonly #protocols = new PerDocumentProtocols()
  readonly #sockets = new Set<MultiplexedSocket>()

  constructor(
    authentication: SocketAuthentication,
    sessionManager: SessionManager,
    dependencies: SyncDependencies,
  ) {
    this.#authentication = authentication
    this.#sessionManager = sessionManager
    this.#dependencies = dependencies
  }

  accept(upgrade: UpgradeRequest, request: MultiplexedRequest): void {
    const { address } = upgrade
    const authenticated = this.#authentication.admission.countUnauthenticated(
      countedAddress(upgrade.request, address),
    )
    const isForwarded = forwardedRequests.has(upgrade.request)
    upgrade.connection.on('close', authenticated)
    this.#dependencies.acceptor.acceptMultiplexed(upgrade, (socket) =>
      this.open(socket, address, request, authenticated, isForwarded),
    )
  }

  /**
   * Serves a client on its multiplexed connection.
   * @param address address of the client
   * @param authenticated removes the connection from the count of unauthenticated connections
   * @param isForwarded true if the connection is a tunnel of another node
   */
  open(
    socket: ClientSocket,
    address: string,
    request: MultiplexedRequest,
    authenticated: () => void,
    isForwarded = false,
  ): void {
    const { reports, backpressure } = this.#dependencies
    const { token, origin } = request
    const end = (reason: Close): void => multiplexed.end(reason)
    const tokens = new SocketTokens(this.#authentication, { address, token, origin, end })
    const multiplexed: MultiplexedSocket = new MultiplexedSocket(socket, {
      address,
      backpressure,
      onToken: (channel, sent, opening) =>
        this.#authenticate(
          { socket: multiplexed, tokens, request, authenticated, clientAddress: address, tunnels },
          channel,
          sent,
          opening,
        ),
      onUnauthenticatedLimit: () => reports.exceeded('unauthenticatedBytes', address),
      onPermanentClose: (reason) => this.#dependencies.rejections.closed(address, reason, null),
      onClosed: () => {
        clearTimeout(authTimeout)
        clearInterval(idleCheck)
        tunnels?.close()
        this.#sockets.delete(multiplexed)
      },
    })
    const tunnels = isForwarded
      ? null
      : new ConnectionTunnels(multiplexed, this.#dependencies, address, request)
    const authTimeout = setTimeout(
      () => this.#endUnauthenticated(multiplexed, address),
      this.#authentication.authMs,
    )
    const idleCheck = setInterval(() => multiplexed.size === 0 && multiplexed.end(unused), idleMs)
    this.#sockets.add(multiplexed)
    const { draining } = this.#authentication.admission
    if (draining !== null) multiplexed.end(draining)
  }

  /** Returns one function for each open websocket, which closes the websocket. */
  closersFor(reason: Close): readonly (() => void)[] {
    return [...this.#sockets].map((socket) => () => socket.end(reason))
  }

  #endUnauthenticated(socket: MultiplexedSocket, address: string): void {
    if (socket.isAuthenticated) return
    const unchecked = this.#authentication.reject(new TokenRejectedError('timeout'), address, null)
    // A client with a slow network, or whose application gets the token late, may try again.
    const seconds = this.#authentication.authMs / 1000
    const missing = close('tryAgainLater', `no token received within ${seconds} s`, 'authTimeoutSeconds')
    socket.end(socket.hasUncheckedToken ? unchecked : missing)
  }

  #authenticate(
    connection: MultiplexedConnection,
    channel: DocumentChannel,
    token: string,
    opening: Buffer,
  ): void {
    this.#openSession(connection, channel, token, opening).catch((error: unknown) => {
      this.#dependencies.logger.error({ err: error }, 'a token could not be checked')
      closeChannel(channel, close('tryAgainLater', 'the token could not be checked: try again'))
    })
  }

  async #openSession(
    connection: MultiplexedConnection,
    channel: DocumentChannel,
    token: string,
    opening: Buffer,
  ): Promise<void> {
    const { socket, tokens, request, authenticated, clientAddress, tunnels } = connection
    const [name = ''] = channel.name.split('\0')
    const { path, problem } = readDocumentPath(name.split('/'))
    if (path !== null)
      this.#dependencies.tracer?.of(path)?.('connect', { clientAddress, protocol: 'hocuspocus' })
    const reject = (reason: Close, owner: Tenant | null = null): void => {
      this.#authentication.refuse(clientAddress, reason, path ?? name, owner)
      closeChannel(channel, reason)
    }
    if (path === null) return reject(close('badRequest', problem))
    if (request.only !== null && !isSameDocument(path, request.only))
      return reject(close('badRequest', 'this connection carries another document; open another connection'))
    const { withdrawals } = this.#sessionManager
    const identity = await socket.pauseDuring(tokens.authenticate(token))
    if (!socket.socket.isOpen) return
    // A rejected token counts even if the client has closed its document in the meantime.
    if (identity instanceof TokenRejectedError) return closeChannel(channel, tokens.reject(identity, path))
    if (!channel.isOpen) return
    socket.authenticated(identity.tenant.workspaceId)
    authenticated()
    const full = this.#countDocument(channel, identity.tenant.workspaceId)
    if (full !== null) return reject(full, identity.tenant)
    const document = documentPrefix(documentAddress(identity.tenant, path), path.documentId)
    if (this.#dependencies.forwarder.isElsewhere(document)) {
      const isCarried = await tunnels?.carry(channel, document, identity.tenant.workspaceId, opening)
      if (isCarried !== true) reject(isCarried === undefined ? documentMoved : unreachable, identity.tenant)
      return
    }
    const { origin, schemaVersion } = request
    this.#sessionManager.admit({
      socket: channel,
      protocol: this.#protocols.acquire(channel),
      identity,
      path,
      clientAddress,
      origin,
      schemaVersion,
      renews: false,
      tokens,
      isMultiplexed: true,
      receivesLive: true,
      echoes: false,
      withdrawals,
      trace: this.#dependencies.tracer?.connection(path, identity.userId),
    })
  }

  /**
   * Counts a document as a connection of its workspace. Returns the close reason if a limit is exceeded;
   * otherwise null.
   */
  #countDocument(channel: DocumentChannel, workspaceId: string): Close | null {
    const { admission } = this.#authentication
    const full = admission.workspaceProblem(workspaceId)
    if (full !== null) return full
    const ticket: AdmissionTicket = { address: null, workspaceId: null }
    admission.countWorkspace(ticket, workspaceId)
    channel.onClosed(() => admission.release(ticket))
    return null
  }
}

const isSameDocument = (a: DocumentPath, b: DocumentPath): boolean =>
  a.organizationId === b.organizationId && a.documentId === b.documentId && a.editorId === b.editorId

const closeChannel = (channel: DocumentChannel, { code, reason }: Close): void => channel.close(code, reason)

const unreachable = close('tryAgainLater', 'the node that has the document does not answer: try again')

/** Close reason for a socket without documents. The client reconnects when it opens a document again. */
const unused = close('serviceRestart', 'no open document on this connection; reconnect')
