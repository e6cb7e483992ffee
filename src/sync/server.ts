import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { clientAddress } from '../access/client-address.ts'
import type { Identity } from '../access/identity.ts'
import { loopbackProblem } from '../access/loopback.ts'
import type { RealtimeAccess } from '../access/realtime.ts'
import { roleOn } from '../access/roles.ts'
import { TokenRefused } from '../access/tokens.ts'
import { CorruptRecord } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import type { DocumentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import type { Lease, Rooms } from '../rooms/rooms.ts'
import { Admission, type AdmissionLimits } from './admission.ts'
import { Outlet } from './outlet.ts'
import { yWebsocket } from './protocols/y-websocket.ts'
import { readSyncRequest, type SyncRequest } from './request.ts'
import { Session, type SessionTools } from './session.ts'
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
  readonly logger: Log
}

type Asked = Extract<SyncRequest, { kind: 'document' }>

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
  readonly #sessions = new Set<Session>()
  readonly #ticking: NodeJS.Timeout
  #draining: Close | null = null

  constructor(options: SyncOptions, parts: SyncParts) {
    this.#options = options
    this.#parts = parts
    this.#admission = new Admission(options)
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      maxPayload: options.messageBytesMax,
      perMessageDeflate: false,
      WebSocket: SyncSocket,
      ...socketLimits,
    })
    this.#ticking = setInterval(() => this.#tick(), tickMs)
    this.#ticking.unref()
  }

  /** Takes over a connection from the HTTP server. Never throws. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', ignoreConnectionError)
    const asked = readSyncRequest(request)
    if (asked.kind === 'elsewhere') return notFound(connection)
    const refusal = this.#refusalBefore(request, asked)
    if (refusal !== null || asked.kind === 'bad') {
      const reason = refusal ?? close('bad', 'bad address')
      return this.#accept(request, connection, head, (socket) => this.#refuse(socket, reason))
    }
    this.#authenticate(request, connection, head, asked).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'upgrade failed')
      connection.destroy()
    })
  }

  /** Refuses newcomers, ends everyone with `reason`, resolves when all are gone or after `timeoutMs`. */
  async drain(reason: Close, timeoutMs: number): Promise<void> {
    this.#draining = reason
    for (const session of this.#sessions) session.end(reason)
    const deadline = Date.now() + timeoutMs
    while (this.#sockets.clients.size > 0 && Date.now() < deadline) await sleep(10)
    for (const socket of this.#sockets.clients) socket.terminate()
    clearInterval(this.#ticking)
  }

  #refusalBefore(request: IncomingMessage, asked: SyncRequest): Close | null {
    if (this.#draining !== null) return this.#draining
    if (asked.kind === 'bad') return close('bad', asked.reason)
    const problem = this.#options.loopbackOnly ? loopbackProblem(request.headers) : null
    if (problem !== null) return close('unauthenticated', problem)
    return this.#admission.problem(clientAddress(request, this.#options.proxies))
  }

  async #authenticate(
    request: IncomingMessage,
    connection: Duplex,
    head: Buffer,
    asked: Asked,
  ): Promise<void> {
    const leave = this.#admission.enter(clientAddress(request, this.#options.proxies))
    connection.once('close', leave)
    const identity = await this.#identify(asked.token)
    if (connection.destroyed) return
    this.#accept(request, connection, head, (socket) => {
      if (identity instanceof TokenRefused) {
        this.#parts.metrics.authFailures.inc({ reason: identity.reason })
        return this.#refuse(socket, close('unauthenticated', identity.message))
      }
      this.#enter(socket, connection, identity, asked).catch((error: unknown) => this.#fail(socket, error))
    })
  }

  async #identify(token: string | null): Promise<Identity | TokenRefused> {
    const timeout = new Promise<TokenRefused>((resolve) => {
      setTimeout(() => resolve(new TokenRefused('timeout')), this.#options.authMs).unref()
    })
    const identity = this.#parts.access.identityOf(token).catch((error: unknown) => {
      if (error instanceof TokenRefused) return error
      throw error
    })
    return Promise.race([identity, timeout])
  }

  /** Opens the room. What the client sends meanwhile stays in the kernel's buffers: nothing is read. */
  async #enter(socket: WebSocket, connection: Duplex, identity: Identity, asked: Asked): Promise<void> {
    socket.pause()
    const address: DocumentAddress = { ...identity.tenant, ...asked.path }
    const { role } = roleOn(identity, address, this.#parts.clock.now())
    if (role === null) return this.#refuse(socket, notThere)
    const lease = await this.#parts.rooms.open(address)
    const refusal = this.#refusalAfter(lease, role === 'editor', socket)
    if (refusal !== null) {
      lease.release()
      return this.#refuse(socket, refusal)
    }
    this.#startSession(socket, connection, lease, identity, address, asked.renews)
    socket.resume()
  }

  #refusalAfter({ room }: Lease, isEditor: boolean, socket: WebSocket): Close | null {
    if (this.#draining !== null) return this.#draining
    if (socket.readyState !== socket.OPEN) return notThere
    if (room.existence === 'live') return null
    return room.existence === 'absent' && isEditor && this.#options.createOnConnect ? null : notThere
  }

  #startSession(
    socket: WebSocket,
    connection: Duplex,
    lease: Lease,
    identity: Identity,
    address: DocumentAddress,
    renews: boolean,
  ): void {
    const { metrics } = this.#parts
    const outlet = new Outlet(connection, this.#options.sendBufferBytesMax, this.#parts.clock.now())
    const parts = { socket, outlet, protocol: yWebsocket, lease, identity, address, renews }
    const session = new Session(parts, this.#parts)
    this.#sessions.add(session)
    metrics.connections.inc({ protocol: yWebsocket.name })
    socket.once('close', () => {
      this.#sessions.delete(session)
      metrics.connections.dec({ protocol: yWebsocket.name })
      session.closed()
    })
    session.start()
  }

  #accept(
    request: IncomingMessage,
    connection: Duplex,
    head: Buffer,
    then: (socket: WebSocket) => void,
  ): void {
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.on('error', (error) => this.#parts.logger.debug({ err: error }, 'websocket error'))
      socket.once('close', (code) => this.#parts.metrics.connectionsClosed.inc({ code: codeLabel(code) }))
      then(socket)
    })
  }

  /** The upgrade is accepted first: a browser shows a page neither status nor reason of a refused one. */
  #refuse(socket: WebSocket, reason: Close): void {
    socket.resume()
    socket.close(reason.code, reason.reason)
  }

  #fail(socket: WebSocket, error: unknown): void {
    const damaged = error instanceof CorruptRecord
    this.#parts.logger.error({ err: error }, damaged ? 'document is damaged' : 'document could not be opened')
    this.#refuse(
      socket,
      damaged
        ? close('internal', 'the stored document is damaged')
        : close('overloaded', 'the document could not be opened: try again'),
    )
  }

  #tick(): void {
    const now = this.#parts.clock.now()
    for (const session of this.#sessions) session.tick(now)
  }
}

const notThere = close('notFound', 'no such document')

/** Codes that clients make up must not make up series. */
const codeLabel = (code: number): string =>
  code >= 4000 && !(code >= 4400 && code < 4500) ? 'other' : String(code)

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The connection's end is handled by its 'close'; without a listener an error would end the process. */
const ignoreConnectionError = (): void => {}

function notFound(connection: Duplex): void {
  const body = JSON.stringify({ error: { status: 'NOT_FOUND', message: 'websockets are at /sync/…' } })
  connection.end(
    `HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
