import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { clientAddress } from '../access/client-address.ts'
import type { Identity } from '../access/identity.ts'
import { loopbackProblem } from '../access/loopback.ts'
import type { RealtimeAccess } from '../access/realtime.ts'
import { type Role, roleOn } from '../access/roles.ts'
import { TokenRefused } from '../access/tokens.ts'
import { type Bus, CorruptRecord } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { DocumentAddress } from '../model/address.ts'
import { type Close, close, closeCodes } from '../model/close.ts'
import { type LimitName, limitOf } from '../quota/limits.ts'
import { DamagedDocument } from '../rooms/quarantine.ts'
import type { DocumentRecords, Lease, Rooms } from '../rooms/rooms.ts'
import { AccessWatch } from './access-watch.ts'
import { Admission, type AdmissionLimits } from './admission.ts'
import { CredentialWatch, closeOf } from './credential-watch.ts'
import { Outlet } from './outlet.ts'
import { yWebsocket } from './protocols/y-websocket.ts'
import { badHandshake, nothingElsewhere, refuseUpgrade } from './refusal.ts'
import { readSyncRequest, type SyncRequest } from './request.ts'
import { disabled, Session, type SessionParts, type SessionTools } from './session.ts'
import { SyncSocket } from './socket.ts'

export interface SyncOptions extends AdmissionLimits {
  readonly messageBytesMax: number
  readonly sendBufferBytesMax: number
  /** From the upgrade request to the checked token. */
  readonly authMs: number
  /** The first edit of a connected editor creates a document. */
  readonly createOnConnect: boolean
  /** Only loopback hosts and origins may connect. */
  readonly loopbackOnly: boolean
  /** Reverse proxies in front whose `X-Forwarded-For` is believed. */
  readonly proxies: number
}

export interface SyncParts extends SessionTools {
  readonly rooms: Rooms
  readonly access: RealtimeAccess
  readonly bus: Bus
  readonly records: DocumentRecords
  readonly logger: Log
  /** Told of a token that was refused, and where it came from. Must not throw. */
  readonly onRefused: (clientAddress: string) => void
}

/** What a client may send, in all, that has not been authenticated. */
const unauthenticatedBytesMax = 65_536
/** Counted with each of its messages. */
const frameBytes = 8
/** What `ws` calls the error of a message that is larger than it takes. */
const messageTooBig = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

function socketServer(maxPayload: number): WebSocketServer {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload,
    perMessageDeflate: false,
    WebSocket: SyncSocket,
    ...socketLimits,
  })
  // Without this `ws` answers with a page.
  return server.on('wsClientError', ({ message }, connection, request) =>
    refuseUpgrade(request, connection, badHandshake(message)),
  )
}

/** What is known of a client when it comes in. */
interface Visit extends Omit<SessionParts, 'socket' | 'outlet' | 'protocol'> {
  /** Changes of access that had been told before this one's was read. */
  readonly changes: number
  /** Of the page that it is; undefined: it is none. */
  readonly origin: string | undefined
  /** It asked for what a backend says. */
  readonly listens: boolean
}

type Asked = Extract<SyncRequest, { kind: 'document' }>

/** A connection that has asked to be upgraded. */
interface Knock {
  readonly request: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
  readonly address: string
}

/** How often sessions are looked at: rights that end do so within this time. */
const tickMs = 500
/** Options that `ws` has and its types don't know yet. */
const socketLimits = {
  /** How long a client may take to answer our close frame, in milliseconds. */
  closeTimeout: 5_000,
  /** An ordinary client sends one message in one frame. */
  maxFragments: 1_024,
}

/** Takes websocket upgrades of one HTTP server and turns them into sessions. */
export class SyncServer {
  readonly #options: SyncOptions
  readonly #parts: SyncParts
  readonly #admission: Admission
  readonly #sockets: WebSocketServer
  /** Accepts those who are then refused. */
  readonly #refusals: WebSocketServer
  /** All that have asked for an upgrade and are still there. */
  readonly #connections = new Set<Duplex>()
  readonly #sessions = new Set<Session>()
  readonly #watch: AccessWatch
  readonly #credentials: CredentialWatch
  readonly #ticking: NodeJS.Timeout
  #draining: Close | null = null

  constructor(options: SyncOptions, parts: SyncParts) {
    this.#options = options
    this.#parts = parts
    this.#admission = new Admission(options)
    this.#sockets = socketServer(options.messageBytesMax)
    this.#refusals = socketServer(unauthenticatedBytesMax)
    this.#watch = new AccessWatch(parts.bus, parts.access, parts.logger)
    this.#credentials = new CredentialWatch(parts.access, parts.logger)
    this.#ticking = setInterval(() => this.#tick(), tickMs)
    this.#ticking.unref()
  }

  /** Takes over a connection from the HTTP server. Never throws. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', ignoreConnectionError)
    this.#connections.add(connection)
    connection.once('close', () => this.#connections.delete(connection))
    const asked = readSyncRequest(request)
    if (asked.kind === 'elsewhere') return refuseUpgrade(request, connection, nothingElsewhere)
    const address = clientAddress(request, this.#options.proxies)
    const knock: Knock = { request, connection, head, address }
    const refusal = this.#refusalBefore(knock, asked)
    if (refusal !== null || asked.kind === 'bad') {
      return this.#refuseUnread(knock, refusal ?? close('bad', 'bad address'))
    }
    this.#authenticate(knock, asked).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'upgrade failed')
      connection.destroy()
    })
  }

  /** Refuses newcomers, ends everyone with `reason`, resolves when all are gone or after `timeoutMs`. */
  async drain(reason: Close, timeoutMs: number): Promise<void> {
    this.#draining = reason
    for (const session of this.#sessions) session.end(reason)
    const deadline = Date.now() + timeoutMs
    while (this.#connections.size > 0 && Date.now() < deadline) await sleep(10)
    for (const connection of this.#connections) connection.destroy()
    clearInterval(this.#ticking)
    this.#watch.end()
    this.#credentials.end()
  }

  #refusalBefore({ request, address }: Knock, asked: SyncRequest): Close | null {
    if (this.#draining !== null) return this.#draining
    const tooSoon = this.#admission.rateProblem(address)
    if (tooSoon !== null) return tooSoon
    if (asked.kind === 'bad') return close('bad', asked.reason)
    const problem = this.#options.loopbackOnly ? loopbackProblem(request.headers) : null
    if (problem !== null) return close('unauthenticated', problem)
    return this.#admission.problem(address)
  }

  async #authenticate(knock: Knock, asked: Asked): Promise<void> {
    const { connection, address } = knock
    connection.once('close', this.#admission.enter(address))
    const identified = this.#admission.enterPending(address)
    const identity = await this.#identify(asked).finally(identified)
    if (connection.destroyed) return
    if (identity instanceof TokenRefused) return this.#refuseToken(knock, identity)
    const { workspaceId } = identity.tenant
    const full = this.#admission.workspaceProblem(workspaceId)
    if (full !== null) return this.#refuseUnread(knock, full, workspaceId)
    connection.once('close', this.#admission.enterWorkspace(workspaceId))
    this.#accept(this.#sockets, knock, { limit: 'maxMessageBytes', who: workspaceId }, (socket) => {
      this.#enter(socket, connection, identity, asked).catch((error: unknown) =>
        this.#fail(socket, error, workspaceId),
      )
    })
  }

  #refuseToken(knock: Knock, refused: TokenRefused): void {
    this.#parts.metrics.authFailures.inc({ reason: refused.reason })
    if (refused.reason === 'timeout') this.#parts.reports.acted('authTimeoutSeconds', knock.address)
    if (!ordinary.includes(refused.reason)) this.#parts.onRefused(knock.address)
    this.#refuseUnread(knock, closeOf(refused))
  }

  async #identify({ token, origin }: Asked): Promise<Identity | TokenRefused> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<TokenRefused>((resolve) => {
      timer = setTimeout(() => resolve(new TokenRefused('timeout')), this.#options.authMs)
    })
    const identity = this.#parts.access.identityOf(token, origin).catch((error: unknown) => {
      if (error instanceof TokenRefused) return error
      throw error
    })
    return Promise.race([identity, timeout]).finally(() => clearTimeout(timer))
  }

  /** Opens the room. What the client sends meanwhile stays in the kernel's buffers: nothing is read. */
  async #enter(socket: WebSocket, connection: Duplex, identity: Identity, asked: Asked): Promise<void> {
    socket.pause()
    const address: DocumentAddress = { ...identity.tenant, ...asked.path }
    const changes = this.#watch.changes
    const access = await this.#parts.access.accessOf(identity, address)
    const { role } = roleOn(identity, address, access, this.#parts.clock.now())
    if (role === null) return this.#refuse(socket, access.state === 'disabled' ? disabled : notThere)
    const lease = await this.#parts.rooms.open(address)
    try {
      const exists = await this.#mayOpen(lease, address, role)
      const refusal = this.#draining ?? (exists && socket.readyState === socket.OPEN ? null : notThere)
      if (refusal !== null) {
        lease.release()
        return this.#refuse(socket, refusal)
      }
    } catch (error) {
      lease.release()
      throw error
    }
    this.#startSession(socket, connection, {
      lease,
      identity,
      address,
      access,
      renews: asked.renews,
      changes,
      origin: asked.origin,
      listens: asked.listens,
    })
    socket.resume()
  }

  /** Is there a document, or may this client make it? Then it gets its record. */
  async #mayOpen({ room }: Lease, address: DocumentAddress, role: Role): Promise<boolean> {
    if (room.existence === 'live') return true
    const makes = room.existence === 'absent' && role === 'editor' && this.#options.createOnConnect
    if (makes) await this.#parts.records.ensure(address, address.documentId)
    return makes
  }

  #startSession(socket: WebSocket, connection: Duplex, { changes, origin, listens, ...visit }: Visit): void {
    const { metrics } = this.#parts
    const outlet = new Outlet(connection, this.#options.sendBufferBytesMax, this.#parts.clock.now())
    const session = new Session({ socket, outlet, protocol: yWebsocket, ...visit }, this.#parts)
    this.#sessions.add(session)
    this.#watch.add(session, changes)
    metrics.connections.inc({ protocol: yWebsocket.name })
    socket.once('close', () => {
      this.#sessions.delete(session)
      this.#watch.delete(session)
      this.#credentials.delete(session)
      metrics.connections.dec({ protocol: yWebsocket.name })
      session.closed()
    })
    session.start()
    if (listens) socket.once('close', this.#parts.rooms.live.enter(visit.address, session))
    this.#credentials.add(session, origin)
  }

  /** For those who have shown no token: next to nothing is read of what they send. */
  #refuseUnread(knock: Knock, reason: Close, who = knock.address): void {
    const { reports } = this.#parts
    if (reason.limit !== null) reports.acted(reason.limit, who)
    const leave = this.#admission.enterRefused()
    if (leave === null) {
      reports.acted('pendingRefusals', who)
      return void knock.connection.destroy()
    }
    knock.connection.once('close', leave)
    this.#accept(this.#refusals, knock, { limit: 'unauthenticatedBytes', who }, (socket) => {
      this.#bound(socket, who)
      this.#refuse(socket, reason)
    })
  }

  /** It may have said something before it learns that it is refused, and something more to say that it has. */
  #bound(socket: WebSocket, who: string): void {
    let leftBytes = unauthenticatedBytesMax
    const count = (data: Buffer): void => {
      leftBytes -= data.length + frameBytes
      if (leftBytes >= 0 || socket.readyState === socket.CLOSED) return
      this.#parts.reports.acted('unauthenticatedBytes', who)
      socket.terminate()
      socket.off('message', count).off('ping', count).off('pong', count)
    }
    socket.on('message', count).on('ping', count).on('pong', count)
  }

  /** @param tooBig what has acted, and for whom, when a message is larger than `sockets` take */
  #accept(
    sockets: WebSocketServer,
    { request, connection, head }: Knock,
    tooBig: { readonly limit: LimitName; readonly who: string },
    then: (socket: WebSocket) => void,
  ): void {
    const { logger, metrics, reports } = this.#parts
    sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.on('error', (error: NodeJS.ErrnoException) => {
        logger.debug({ err: error }, 'websocket error')
        if (error.code === messageTooBig) reports.acted(tooBig.limit, tooBig.who)
      })
      socket.once('close', (code) => metrics.connectionsClosed.inc({ code: codeLabel(code) }))
      then(socket)
    })
  }

  /** The upgrade is accepted first: a browser shows a page neither status nor reason of a refused one. */
  #refuse(socket: WebSocket, reason: Close): void {
    socket.resume()
    socket.close(reason.code, reason.reason)
  }

  #fail(socket: WebSocket, error: unknown, workspaceId: string): void {
    const limit = limitOf(error)
    if (limit !== null) this.#parts.reports.acted(limit, workspaceId)
    // That a document is damaged has been told.
    else if (!(error instanceof DamagedDocument))
      this.#parts.logger.error({ err: error }, 'document could not be opened')
    this.#refuse(socket, closeOfFailure(error))
  }

  #tick(): void {
    const now = this.#parts.clock.now()
    for (const session of this.#sessions) session.tick(now)
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
/** Refusals of tokens that are no attempt at anything. */
const ordinary: readonly string[] = ['expired', 'timeout', 'provider']

const notThere = close('notFound', 'no such document')

const ownCodes = new Set<number>(Object.values(closeCodes))

/** Codes that clients make up must not make up series. */
const codeLabel = (code: number): string =>
  ownCodes.has(code) || (code >= 1000 && code < 1016) ? String(code) : 'other'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The connection's end is handled by its 'close'; without a listener an error would end the process. */
const ignoreConnectionError = (): void => {}
