import { type AgentTraits, agentMeta, type Identity } from '../../access/identity.ts'
import { roleOn, roleOnSocket } from '../../access/roles/roles.ts'
import { ApiError, errorMessage } from '../../base/errors.ts'
import { documentAddress } from '../../model/address.ts'
import type { ChangeMeta } from '../../model/change-origin.ts'
import { type Close, close } from '../../model/close.ts'
import { limitOf } from '../../quota/limits.ts'
import { DocumentDamagedError } from '../../rooms/document/unreadable-documents.ts'
import type { RoomHandle } from '../../rooms/registry/room-registry.ts'
import { documentMoved } from '../../rooms/room/room-errors.ts'
import { CorruptRecordError, NotOwnerError } from '../../store/engine.ts'
import type { DocumentRequest } from '../admission/sync-request.ts'
import { yWebsocketFor } from '../protocols/y-websocket.ts'
import { AccessWatch } from '../session/access-watch.ts'
import { Session } from '../session/session.ts'
import type { AuthenticatedClient, SessionStart } from '../session/session-options.ts'
import { documentDisabled } from '../session/session-role.ts'
import { closeForToken, type SocketAuthentication } from '../session/socket-authentication.ts'
import { SocketTokens } from '../session/socket-tokens.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'
import { acceptAndClose } from './upgrade-rejecter.ts'

/**
 * Opens a room and a session for each authenticated client, and manages the sessions of all connected
 * clients.
 */
export class SessionManager {
  /** True if the first edit of a client with the role editor creates a document that does not exist. */
  readonly #createOnConnect: boolean
  readonly #authentication: SocketAuthentication
  readonly #dependencies: SyncDependencies
  readonly #sessions = new Set<Session>()
  readonly #accessWatch: AccessWatch

  constructor(
    createOnConnect: boolean,
    authentication: SocketAuthentication,
    dependencies: SyncDependencies,
  ) {
    this.#createOnConnect = createOnConnect
    this.#authentication = authentication
    this.#dependencies = dependencies
    this.#accessWatch = new AccessWatch(dependencies.access, dependencies.faults)
  }

  /** Number of withdrawals of credentials so far. */
  get withdrawals(): number {
    return this.#accessWatch.withdrawals
  }

  /**
   * Opens a session for a client on a socket that carries one document, like `admit`.
   * @param withdrawals as in `AuthenticatedClient`
   */
  admitDocument(
    socket: ClientSocket,
    requested: DocumentRequest,
    identity: Identity,
    clientAddress: string,
    withdrawals: number,
  ): void {
    const { token, origin, path } = requested
    const end = ({ code, reason }: Close): void => socket.close(code, reason)
    // A spread of `requested` would take 3 % of the CPU time of a connect.
    this.admit({
      socket,
      protocol: yWebsocketFor(requested),
      identity,
      path,
      clientAddress,
      origin,
      schemaVersion: requested.schemaVersion,
      renews: requested.renews,
      tokens: new SocketTokens(this.#authentication, { address: clientAddress, token, origin, end }),
      isMultiplexed: false,
      receivesLive: requested.receivesLive,
      echoes: requested.echoes,
      withdrawals,
      trace: this.#dependencies.tracer?.connection(path, identity.userId),
    })
  }

  /** Opens a session for the client. If that fails, closes the socket with the reason. */
  admit(client: AuthenticatedClient): void {
    client.trace?.line('authenticated', { protocol: client.protocol.name })
    this.#openSession(client).catch((error: unknown) => this.#fail(client, error))
  }

  /**
   * Returns one function for each session, which ends the session. Sessions
   * on multiplexed sockets are not included, because their sockets are closed as a whole.
   */
  closersFor(reason: Close): readonly (() => void)[] {
    return [...this.#sessions]
      .filter(({ isMultiplexed }) => !isMultiplexed)
      .map((session) => () => session.end(reason))
  }

  /** Ends sessions whose permission has expired, and sends heartbeats. Call it about twice a second. */
  check(): void {
    const now = this.#dependencies.clock.now()
    for (const session of this.#sessions) {
      if (session.right.isDecisionDue(now)) this.#accessWatch.renewDecision(session)
      session.check(now)
    }
  }

  /** Stops watching access and credentials. */
  end(): void {
    this.#accessWatch.end()
  }

  /**
   * Opens the room and starts the session. The socket is not read in the meantime, so that messages of the
   * client stay in the buffers of the kernel.
   */
  async #openSession(client: AuthenticatedClient): Promise<void> {
    const { socket, identity, path } = client
    socket.pause()
    const address = documentAddress(identity.tenant, path)
    const changes = this.#accessWatch.changes
    const { origin, schemaVersion } = client
    const permission = await this.#dependencies.access.permissionOf(identity, address, origin, schemaVersion)
    const { access, decision } = permission
    if (permission.refusal !== null) return this.#reject(client, closeForToken(permission.refusal))
    const granted = roleOn(identity, address, access, this.#dependencies.clock.now(), decision)
    const role = roleOnSocket(identity, granted.role, permission)
    if (role === null)
      return access.state === 'disabled'
        ? this.#reject(client, documentDisabled)
        : this.#reject(client, documentNotFound, 'the user has no role on the document')
    await this.#dependencies.storage.ready(address.workspaceId)
    const meta = identity.agent === null ? null : await this.#metaOf(identity.agent, address.workspaceId)
    await this.#dependencies.loader.ready(address)
    const roomHandle = await this.#dependencies.rooms.open(address)
    if (!socket.isOpen) {
      roomHandle.release()
      return socket.resume()
    }
    const rejection = this.#rejectionFor(roomHandle)
    if (rejection !== null) {
      roomHandle.release()
      return this.#reject(client, rejection, rejection === documentNotFound ? cannotCreate : undefined)
    }
    this.#startSession(client, { roomHandle, address, permission, meta }, changes)
    socket.resume()
  }

  /** Returns the data to store with the changes of an agent; null if there is none. */
  async #metaOf(agent: AgentTraits, workspaceId: string): Promise<ChangeMeta | null> {
    if (!(await this.#dependencies.attribution.isEnabled(workspaceId))) return null
    const meta = agentMeta(agent)
    return Object.keys(meta).length === 0 ? null : meta
  }

  #rejectionFor(roomHandle: RoomHandle): Close | null {
    const { draining } = this.#authentication.admission
    return draining ?? (this.#canOpen(roomHandle) ? null : documentNotFound)
  }

  /**
   * Returns whether a client may open the room: the document exists, or the first update of an editor can create it. A
   * viewer can open it before that.
   */
  #canOpen({ room }: RoomHandle): boolean {
    return room.existence === 'live' || (room.existence === 'absent' && this.#createOnConnect)
  }

  /** @param changes value of `AccessWatch.changes` before the permission was read */
  #startSession(client: AuthenticatedClient, start: SessionStart, changes: number): void {
    const { metrics, rooms } = this.#dependencies
    const { socket, protocol } = client
    const recheck = (): Promise<void> => this.#accessWatch.recheck(session)
    const session: Session = new Session(client, start, recheck, this.#dependencies)
    this.#sessions.add(session)
    this.#accessWatch.add(session, changes, client.withdrawals)
    const labels = { protocol: protocol.name, transport: socket.transport }
    const { usage } = start.roomHandle.room
    metrics.connections.inc(labels)
    usage.enter()
    socket.onClosed((code) => {
      this.#sessions.delete(session)
      this.#accessWatch.delete(session)
      metrics.connections.dec(labels)
      usage.leave()
      session.closed(code)
    })
    session.start()
    socket.onClosed(rooms.connections.enter(session))
    if (client.receivesLive) socket.onClosed(rooms.live.enter(session.address, session))
  }

  #fail(client: AuthenticatedClient, error: unknown): void {
    const { reports } = this.#dependencies
    const limit = limitOf(error)
    if (limit !== null) reports.exceeded(limit, client.identity.tenant.workspaceId)
    // The damage of a document and the failure of a callback are already logged.
    else if (
      !(error instanceof DocumentDamagedError || error instanceof NotOwnerError || isLoadFailure(error))
    )
      this.#dependencies.faults.log(error, 'document could not be opened')
    this.#reject(client, closeOfFailure(error))
  }

  /**
   * Rejects the client and logs the rejection, unless the client has disconnected.
   * @param logReason reason for the log, if the client must not receive it
   */
  #reject(client: AuthenticatedClient, reason: Close, logReason?: string): void {
    const { socket, clientAddress, path, identity, trace } = client
    if (!socket.isOpen) return socket.resume()
    trace?.line('rejected', { code: reason.code, reason: logReason ?? reason.reason })
    this.#dependencies.rejections.socket(clientAddress, reason, path, identity.tenant, logReason)
    acceptAndClose(socket, reason)
  }
}

/** Returns the close reason for a client whose document could not be opened. */
function closeOfFailure(error: unknown): Close {
  if (error instanceof DocumentDamagedError || error instanceof CorruptRecordError)
    return close('internalError', 'the stored document is damaged; contact the operator')
  if (error instanceof NotOwnerError) return documentMoved
  if (isLoadFailure(error))
    return close('tryAgainLater', 'the backend could not load the document: try again')
  return close(
    'tryAgainLater',
    limitOf(error) === null ? 'the document could not be opened: try again' : errorMessage(error),
  )
}

const isLoadFailure = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'callback/load-failed'

const documentNotFound = close('notFound', 'document not found')
const cannotCreate = 'the document does not exist, and this client may not create it'
