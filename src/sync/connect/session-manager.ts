import type { Identity } from '../../access/identity.ts'
import type { RealtimeAccess } from '../../access/realtime-access.ts'
import { type Role, roleOn } from '../../access/roles/roles.ts'
import { steadyTime } from '../../clock.ts'
import { CorruptRecordError } from '../../engine/engine.ts'
import { errorMessage } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type DocumentPath, documentAddress } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { limitOf } from '../../quota/limits.ts'
import { DocumentDamagedError } from '../../rooms/room/quarantine.ts'
import type { RoomHandle, RoomRegistry } from '../../rooms/room/room-registry.ts'
import type { Protocol } from '../protocols/message.ts'
import { AccessWatch } from '../session/access-watch.ts'
import { CredentialWatch } from '../session/credential-watch.ts'
import { Session } from '../session/session.ts'
import type { SessionDependencies, SessionOptions } from '../session/session-options.ts'
import { documentDisabled } from '../session/session-role.ts'
import type { SocketTokens } from '../session/socket-tokens.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { RejectionLog } from './rejection-log.ts'
import type { ServerFaults } from './server-faults.ts'
import { closeForToken } from './socket-authentication.ts'
import { acceptAndClose } from './upgrade-rejecter.ts'

export interface SessionManagerOptions {
  /** The first edit of a connected editor creates a document. */
  readonly createOnConnect: boolean
}

export interface SessionManagerDependencies extends Omit<SessionDependencies, 'time' | 'live'> {
  readonly rooms: RoomRegistry
  readonly access: RealtimeAccess
  readonly logger: Log
  readonly rejections: RejectionLog
  readonly faults: ServerFaults
}

/** A websocket of somebody who is known. */
export interface AuthenticatedClient {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly identity: Identity
  readonly path: DocumentPath
  readonly clientAddress: string
  /** Of the page that asks; undefined when it is none. */
  readonly origin: string | undefined
  /** Is to be told to reconnect, instead of being refused, when its token ends. */
  readonly renews: boolean
  /** Checks newer tokens of a client that is asked for them; null: none are. */
  readonly tokens: SocketTokens | null
  /** Understands what is said to those who are connected. */
  readonly receivesLive: boolean
  /** `Entrance.withdrawals` before its token was checked. */
  readonly withdrawals: number
}

/** What is known of a client when it comes in. */
interface SessionStart extends Pick<SessionOptions, 'roomHandle' | 'address' | 'permission'> {
  /** Changes of access that had been told before this one's was read. */
  readonly changes: number
}

/** Opens the room that an authenticated client asks for, and keeps its session while it is there. */
export class SessionManager {
  readonly #options: SessionManagerOptions
  readonly #dependencies: SessionManagerDependencies & SessionDependencies
  readonly #sessions = new Set<Session>()
  readonly #accessWatch: AccessWatch
  readonly #credentialWatch: CredentialWatch
  readonly #faults: ServerFaults
  #draining: Close | null = null

  constructor(options: SessionManagerOptions, dependencies: SessionManagerDependencies) {
    this.#options = options
    this.#dependencies = {
      ...dependencies,
      time: steadyTime(dependencies.clock),
      live: dependencies.rooms.live,
    }
    this.#accessWatch = new AccessWatch(dependencies.access, dependencies.faults)
    this.#credentialWatch = new CredentialWatch(dependencies.access, dependencies.faults)
    this.#faults = dependencies.faults
  }

  /** How often credentials were withdrawn so far. */
  get withdrawals(): number {
    return this.#credentialWatch.withdrawals
  }

  /** Becomes a session, or is told why not. */
  admit(client: AuthenticatedClient): void {
    this.#openSession(client).catch((error: unknown) => this.#fail(client, error))
  }

  /** From now on newcomers are refused. Returns what ends the sessions there are, except those on shared sockets. */
  drain(reason: Close): readonly (() => void)[] {
    this.#draining = reason
    return [...this.#sessions]
      .filter(({ isMultiplexed }) => !isMultiplexed)
      .map((session) => () => session.end(reason))
  }

  /** To be called about twice a second: rights that end do so within this time. */
  tick(): void {
    const now = this.#dependencies.clock.now()
    for (const session of this.#sessions) session.tick(now)
  }

  /** Looks after nobody any more. */
  end(): void {
    this.#accessWatch.end()
    this.#credentialWatch.end()
  }

  /** What the client sends while the room is opened stays in the kernel's buffers: nothing is read. */
  async #openSession(client: AuthenticatedClient): Promise<void> {
    const { socket, identity, path } = client
    socket.pause()
    const address = documentAddress(identity.tenant, path)
    const changes = this.#accessWatch.changes
    const permission = await this.#dependencies.access.permissionOf(identity, address, client.origin)
    const { access } = permission
    if (permission.refusal !== null) return this.#reject(client, closeForToken(permission.refusal))
    const { role } = roleOn(identity, address, access, this.#dependencies.clock.now())
    if (role === null)
      return access.state === 'disabled'
        ? this.#reject(client, documentDisabled)
        : this.#reject(client, documentNotFound, 'the user has no role on the document')
    await this.#dependencies.storage.ready(address.workspaceId)
    const roomHandle = await this.#dependencies.rooms.open(address)
    const rejection = this.#rejectionFor(roomHandle, client, role)
    if (rejection !== null) {
      roomHandle.release()
      return this.#reject(client, rejection, rejection === documentNotFound ? cannotCreate : undefined)
    }
    this.#startSession(client, { roomHandle, address, permission, changes })
    socket.resume()
  }

  #rejectionFor(roomHandle: RoomHandle, { socket }: AuthenticatedClient, role: Role): Close | null {
    return this.#draining ?? (this.#canOpen(roomHandle, role) && socket.isOpen ? null : documentNotFound)
  }

  /** True if the document exists or this client can create it with its first update. */
  #canOpen({ room }: RoomHandle, role: Role): boolean {
    if (room.existence === 'live') return true
    return room.existence === 'absent' && role === 'editor' && this.#options.createOnConnect
  }

  #startSession(client: AuthenticatedClient, { changes, ...start }: SessionStart): void {
    const { metrics, rooms } = this.#dependencies
    const { socket, protocol, identity, origin, renews, tokens, clientAddress } = client
    const recheck = (): Promise<void> => this.#accessWatch.recheck(session)
    const dependencies = { socket, protocol, identity, renews, tokens, clientAddress, recheck, ...start }
    const session: Session = new Session(dependencies, this.#dependencies)
    this.#sessions.add(session)
    this.#accessWatch.add(session, changes, origin)
    metrics.connections.inc({ protocol: protocol.name })
    socket.onClosed(() => {
      this.#sessions.delete(session)
      this.#accessWatch.delete(session)
      this.#credentialWatch.delete(session)
      metrics.connections.dec({ protocol: protocol.name })
      session.closed()
    })
    session.start()
    if (client.receivesLive) socket.onClosed(rooms.live.enter(start.address, session))
    this.#credentialWatch.add(session, origin, client.withdrawals)
  }

  #fail(client: AuthenticatedClient, error: unknown): void {
    const { reports } = this.#dependencies
    const limit = limitOf(error)
    if (limit !== null) reports.exceeded(limit, client.identity.tenant.workspaceId)
    // That a document is damaged has been told.
    else if (!(error instanceof DocumentDamagedError)) this.#faults.log(error, 'document could not be opened')
    this.#reject(client, closeOfFailure(error))
  }

  /** @param logReason reason for the log, if the client must not get it */
  #reject({ socket, clientAddress, path }: AuthenticatedClient, reason: Close, logReason?: string): void {
    this.#dependencies.rejections.socket(clientAddress, reason, path, logReason)
    acceptAndClose(socket, reason)
  }
}

/** What is told of a document that could not be opened. */
function closeOfFailure(error: unknown): Close {
  if (error instanceof DocumentDamagedError || error instanceof CorruptRecordError)
    return close('internalError', 'the stored document is damaged; contact the operator')
  return close(
    'tryAgainLater',
    limitOf(error) === null ? 'the document could not be opened: try again' : errorMessage(error),
  )
}

const documentNotFound = close('notFound', 'document not found')
const cannotCreate = 'the document does not exist, and this client may not create it'
