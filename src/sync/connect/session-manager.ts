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

export interface EntranceOptions {
  /** The first edit of a connected editor creates a document. */
  readonly createOnConnect: boolean
}

export interface SessionManagerOptions extends Omit<SessionDependencies, 'time' | 'live'> {
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
  readonly listens: boolean
  /** `Entrance.withdrawals` before its token was checked. */
  readonly withdrawals: number
}

/** What is known of a client when it comes in. */
interface Visit extends Pick<SessionOptions, 'lease' | 'address' | 'permission'> {
  /** Changes of access that had been told before this one's was read. */
  readonly changes: number
}

/** Opens the room that an authenticated client asks for, and keeps its session while it is there. */
export class SessionManager {
  readonly #options: EntranceOptions
  readonly #parts: SessionManagerOptions & SessionDependencies
  readonly #sessions = new Set<Session>()
  readonly #watch: AccessWatch
  readonly #credentials: CredentialWatch
  readonly #faults: ServerFaults
  #draining: Close | null = null

  constructor(options: EntranceOptions, parts: SessionManagerOptions) {
    this.#options = options
    this.#parts = { ...parts, time: steadyTime(parts.clock), live: parts.rooms.live }
    this.#watch = new AccessWatch(parts.access, parts.faults)
    this.#credentials = new CredentialWatch(parts.access, parts.faults)
    this.#faults = parts.faults
  }

  /** How often credentials were withdrawn so far. */
  get withdrawals(): number {
    return this.#credentials.withdrawals
  }

  /** Becomes a session, or is told why not. */
  admit(newcomer: AuthenticatedClient): void {
    this.#enter(newcomer).catch((error: unknown) => this.#fail(newcomer, error))
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
    const now = this.#parts.clock.now()
    for (const session of this.#sessions) session.tick(now)
  }

  /** Looks after nobody any more. */
  end(): void {
    this.#watch.end()
    this.#credentials.end()
  }

  /** What the client sends while the room is opened stays in the kernel's buffers: nothing is read. */
  async #enter(newcomer: AuthenticatedClient): Promise<void> {
    const { socket, identity, path } = newcomer
    socket.pause()
    const address = documentAddress(identity.tenant, path)
    const changes = this.#watch.changes
    const permission = await this.#parts.access.permissionOf(identity, address, newcomer.origin)
    const { access } = permission
    if (permission.refusal !== null) return this.#reject(newcomer, closeForToken(permission.refusal))
    const { role } = roleOn(identity, address, access, this.#parts.clock.now())
    if (role === null)
      return access.state === 'disabled'
        ? this.#reject(newcomer, documentDisabled)
        : this.#reject(newcomer, notThere, 'the user has no role on the document')
    await this.#parts.storage.ready(address.workspaceId)
    const lease = await this.#parts.rooms.open(address)
    const refusal = this.#refusalIn(lease, newcomer, role)
    if (refusal !== null) {
      lease.release()
      return this.#reject(newcomer, refusal, refusal === notThere ? mayNotCreate : undefined)
    }
    this.#startSession(newcomer, { lease, address, permission, changes })
    socket.resume()
  }

  #refusalIn(lease: RoomHandle, { socket }: AuthenticatedClient, role: Role): Close | null {
    return this.#draining ?? (this.#mayOpen(lease, role) && socket.isOpen ? null : notThere)
  }

  /** True if the document exists or this client can create it with its first update. */
  #mayOpen({ room }: RoomHandle, role: Role): boolean {
    if (room.existence === 'live') return true
    return room.existence === 'absent' && role === 'editor' && this.#options.createOnConnect
  }

  #startSession(newcomer: AuthenticatedClient, { changes, ...visit }: Visit): void {
    const { metrics, rooms } = this.#parts
    const { socket, protocol, identity, origin, renews, tokens, clientAddress } = newcomer
    const recheck = (): Promise<void> => this.#watch.recheck(session)
    const parts = { socket, protocol, identity, renews, tokens, clientAddress, recheck, ...visit }
    const session: Session = new Session(parts, this.#parts)
    this.#sessions.add(session)
    this.#watch.add(session, changes, origin)
    metrics.connections.inc({ protocol: protocol.name })
    socket.onClosed(() => {
      this.#sessions.delete(session)
      this.#watch.delete(session)
      this.#credentials.delete(session)
      metrics.connections.dec({ protocol: protocol.name })
      session.closed()
    })
    session.start()
    if (newcomer.listens) socket.onClosed(rooms.live.enter(visit.address, session))
    this.#credentials.add(session, origin, newcomer.withdrawals)
  }

  #fail(newcomer: AuthenticatedClient, error: unknown): void {
    const { reports } = this.#parts
    const limit = limitOf(error)
    if (limit !== null) reports.exceeded(limit, newcomer.identity.tenant.workspaceId)
    // That a document is damaged has been told.
    else if (!(error instanceof DocumentDamagedError)) this.#faults.log(error, 'document could not be opened')
    this.#reject(newcomer, closeOfFailure(error))
  }

  /** @param why reason for the log, if the client must not get it */
  #reject({ socket, clientAddress, path }: AuthenticatedClient, reason: Close, why?: string): void {
    this.#parts.rejections.socket(clientAddress, reason, path, why)
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

const notThere = close('notFound', 'document not found')
const mayNotCreate = 'the document does not exist, and this client may not create it'
