import type { Identity } from '../access/identity.ts'
import type { RealtimeAccess } from '../access/realtime.ts'
import { type Role, roleOn } from '../access/roles.ts'
import { steadyTime } from '../clock.ts'
import { CorruptRecord } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { type DocumentPath, documentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import { limitOf } from '../quota/limits.ts'
import type { DocumentRecords } from '../rooms/going.ts'
import { DamagedDocument } from '../rooms/quarantine.ts'
import type { Lease, Rooms } from '../rooms/rooms.ts'
import { AccessWatch } from './access-watch.ts'
import type { ClientSocket } from './client-socket.ts'
import { CredentialWatch } from './credential-watch.ts'
import type { Protocol } from './protocols/message.ts'
import { dismiss } from './refusals.ts'
import { disabled } from './rights.ts'
import { Session } from './session.ts'
import type { SessionParts, SessionTools } from './session-parts.ts'
import type { SocketTokens } from './socket-tokens.ts'
import { Troubles } from './troubles.ts'

export interface EntranceOptions {
  /** The first edit of a connected editor creates a document. */
  readonly createOnConnect: boolean
}

export interface EntranceParts extends Omit<SessionTools, 'time' | 'live'> {
  readonly rooms: Rooms
  readonly access: RealtimeAccess
  readonly records: DocumentRecords
  readonly logger: Log
}

/** A websocket of somebody who is known. */
export interface Newcomer {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly identity: Identity
  readonly path: DocumentPath
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
interface Visit extends Pick<SessionParts, 'lease' | 'address' | 'access'> {
  /** Changes of access that had been told before this one's was read. */
  readonly changes: number
}

/** Opens the room that an authenticated client asks for, and keeps its session while it is there. */
export class Entrance {
  readonly #options: EntranceOptions
  readonly #parts: EntranceParts & SessionTools
  readonly #sessions = new Set<Session>()
  readonly #watch: AccessWatch
  readonly #credentials: CredentialWatch
  readonly #troubles: Troubles
  #draining: Close | null = null

  constructor(options: EntranceOptions, parts: EntranceParts) {
    this.#options = options
    this.#parts = { ...parts, time: steadyTime(parts.clock), live: parts.rooms.live }
    this.#watch = new AccessWatch(parts.access, new Troubles(parts))
    this.#credentials = new CredentialWatch(parts.access, new Troubles(parts))
    this.#troubles = new Troubles(parts)
  }

  /** How often credentials were withdrawn so far. */
  get withdrawals(): number {
    return this.#credentials.withdrawals
  }

  /** Becomes a session, or is told why not. */
  admit(newcomer: Newcomer): void {
    this.#enter(newcomer).catch((error: unknown) => this.#fail(newcomer, error))
  }

  /** From now on newcomers are refused. Returns what ends the sessions there are, except those on shared sockets. */
  drain(reason: Close): readonly (() => void)[] {
    this.#draining = reason
    return [...this.#sessions].filter(({ isShared }) => !isShared).map((session) => () => session.end(reason))
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
  async #enter(newcomer: Newcomer): Promise<void> {
    const { socket, identity, path } = newcomer
    socket.pause()
    const address = documentAddress(identity.tenant, path)
    const changes = this.#watch.changes
    const access = await this.#parts.access.accessOf(identity, address)
    const { role } = roleOn(identity, address, access, this.#parts.clock.now())
    if (role === null) return dismiss(socket, access.state === 'disabled' ? disabled : notThere)
    const lease = await this.#parts.rooms.open(address)
    const refusal = await this.#refusalIn(lease, newcomer, role).catch((error: unknown) => {
      lease.release()
      throw error
    })
    if (refusal !== null) {
      lease.release()
      return dismiss(socket, refusal)
    }
    this.#startSession(newcomer, { lease, address, access, changes })
    socket.resume()
  }

  async #refusalIn(lease: Lease, { socket }: Newcomer, role: Role): Promise<Close | null> {
    const exists = await this.#mayOpen(lease, role)
    return this.#draining ?? (exists && socket.isOpen ? null : notThere)
  }

  /** Is there a document, or may this client make it? Then it gets its record. */
  async #mayOpen({ room }: Lease, role: Role): Promise<boolean> {
    if (room.existence === 'live') return true
    const makes = room.existence === 'absent' && role === 'editor' && this.#options.createOnConnect
    if (makes) await this.#parts.records.ensure(room.address, room.address.documentId)
    return makes
  }

  #startSession(newcomer: Newcomer, { changes, ...visit }: Visit): void {
    const { metrics, rooms } = this.#parts
    const { socket, protocol, identity, origin, renews, tokens } = newcomer
    const session = new Session({ socket, protocol, identity, renews, tokens, ...visit }, this.#parts)
    this.#sessions.add(session)
    this.#watch.add(session, changes)
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

  #fail({ socket, identity }: Newcomer, error: unknown): void {
    const { reports } = this.#parts
    const limit = limitOf(error)
    if (limit !== null) reports.acted(limit, identity.tenant.workspaceId)
    // That a document is damaged has been told.
    else if (!(error instanceof DamagedDocument)) this.#troubles.tell(error, 'document could not be opened')
    dismiss(socket, closeOfFailure(error))
  }
}

/** What is told of a document that could not be opened. */
function closeOfFailure(error: unknown): Close {
  if (error instanceof DamagedDocument || error instanceof CorruptRecord)
    return close('internal', 'the stored document is damaged')
  return close(
    'overloaded',
    limitOf(error) === null ? 'the document could not be opened: try again' : messageOf(error),
  )
}

const notThere = close('notFound', 'no such document')
