import type { DocumentAccess } from '../access/document-access.ts'
import type { Identity } from '../access/identity.ts'
import { type Role, roleOn } from '../access/roles.ts'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import type { DocumentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import type { LimitName } from '../quota/limits.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { Listener } from '../rooms/live.ts'
import type { Delivered, Member, MemberUser } from '../rooms/member.ts'
import { deleted, type Room } from '../rooms/room.ts'
import type { Lease } from '../rooms/rooms.ts'
import { readAwareness, writeAwareness } from '../update/awareness.ts'
import { MalformedMessage, MalformedUpdate } from '../update/malformed.ts'
import { readUpdate } from '../update/read.ts'
import { readStateVector } from '../update/vector.ts'
import { Answers } from './answers.ts'
import type { ClientSocket, SocketListener } from './client-socket.ts'
import type { Inflow, Meter } from './inflow.ts'
import { newShare, type ReadPressure, type TurnReader } from './pressure.ts'
import type { Message, Protocol } from './protocols/message.ts'

export interface SessionTools {
  readonly clock: Clock
  /** Milliseconds that never go back, for what is measured. */
  readonly time: () => number
  readonly metrics: Metrics
  readonly pressure: ReadPressure
  readonly inflow: Inflow
  readonly reports: LimitReports
  readonly allowSubdocuments: boolean
  readonly documentBytesMax: number
}

export interface SessionParts {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly lease: Lease
  readonly identity: Identity
  readonly address: DocumentAddress
  /** What the directory said about the user and the document when the client connected. */
  readonly access: DocumentAccess
  /** The client asked to be told to reconnect, instead of being refused, when its token ends. */
  readonly renews: boolean
}

/** Pings go out this often, and silence towards the client ends before that. */
export const heartbeatMs = 15_000
/** An own awareness renewal is echoed when the client has heard nothing for this long: y-websocket hangs up after 30 s. */
const echoAfterMs = 5_000

/** How long to wait for what is missing before asking again. */
const askAgainAfterMs = 1_000

/** Says nothing; keeps a y-websocket client from thinking that the connection is dead. */
const emptyAwareness = writeAwareness([])

/** One client's connection to one room. */
export class Session implements Member, Listener, TurnReader, SocketListener {
  readonly encoder: Protocol
  readonly user: MemberUser
  readonly share = newShare()
  readonly #parts: SessionParts
  readonly #tools: SessionTools
  readonly #room: Room
  #access: DocumentAccess
  #role: Role | null = null
  #roleUntil = 0
  /** State vector of what a slow client has; null while it keeps up. */
  #behind: Uint8Array | null = null
  readonly #answers: Answers
  readonly #meter: Meter
  #askedAt = Number.NEGATIVE_INFINITY
  #waitingForDrain = false
  #heardAt: number
  #pingedAt: number
  /** After so long in which nothing was said something is, in ms. */
  readonly #quietMs = heartbeatMs * (1 - Math.random() / 3)
  /** When something was said to the client last, or it came. */
  #spokeAt: number
  /** How many want nothing to be read for now. */
  #holds = 0
  #state: 'open' | 'ended' = 'open'

  constructor(parts: SessionParts, tools: SessionTools) {
    this.#parts = parts
    this.#tools = tools
    this.#room = parts.lease.room
    this.#access = parts.access
    this.encoder = parts.protocol
    const { userId: id, name, email } = parts.identity
    this.user = { id, name, email }
    this.#answers = new Answers(this.#room, this)
    this.#meter = tools.inflow.enter(parts.identity.tenant.workspaceId)
    this.#heardAt = tools.time()
    // Those who came together, after a restart, are not to be asked together for ever.
    this.#pingedAt = this.#heardAt - Math.random() * heartbeatMs
    this.#spokeAt = this.#heardAt
  }

  /** Joins the room and says what the room has. Nothing is sent before this. */
  start(): void {
    this.#parts.socket.listen(this)
    this.#room.join(this)
    this.#sendVector()
    this.#showAll(this.#room.awareness.all())
  }

  get workspaceId(): string {
    return this.#parts.identity.tenant.workspaceId
  }

  get identity(): Identity {
    return this.#parts.identity
  }

  get address(): DocumentAddress {
    return this.#parts.address
  }

  deliver(delivery: Delivered): void {
    if (this.#behind !== null) return
    if (this.#parts.socket.isFull) return this.#fallBehind()
    const frames = delivery.bytesFor(this)
    if (frames !== null) this.#send(frames)
  }

  deliverAwareness(frame: Uint8Array, own: boolean): void {
    if (this.#behind !== null) return
    if (own && this.#tools.time() - this.#spokeAt < echoAfterMs) return
    if (this.#parts.socket.isFull) return this.#fallBehind()
    this.#send(frame)
  }

  deliverLive(frame: Uint8Array): 'sent' | 'missed' {
    if (!this.#reachable || this.#behind !== null) return 'missed'
    if (this.#parts.socket.isFull) {
      this.#report('sendBufferBytes')
      return 'missed'
    }
    this.#send(frame)
    return 'sent'
  }

  /** One question is enough for a while: the answer holds all that the client has. */
  askForMissing(): void {
    const now = this.#tools.time()
    if (now - this.#askedAt < askAgainAfterMs) return
    this.#askedAt = now
    this.#sendVector()
  }

  end(reason: Close): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    if (reason.limit !== null) this.#report(reason.limit)
    this.#parts.socket.close(reason.code, reason.reason)
    // A client may take its time to answer: nobody is to see it meanwhile.
    this.#room.leave(this)
    this.#parts.socket.resume()
  }

  /** The connection is gone. */
  closed(): void {
    this.#state = 'ended'
    if (this.#behind !== null) this.#tools.metrics.slowClients.dec()
    this.#behind = null
    this.#tools.pressure.forget(this)
    this.#tools.inflow.leave(this.#meter, this)
    this.#room.leave(this)
    this.#parts.lease.release()
  }

  /** Called about twice a second: ends what has expired, keeps alive what is quiet, hangs up on the dead. */
  tick(now: number): void {
    if (this.#state === 'ended') return
    if (now >= this.#parts.identity.expiresAt) return this.#expire()
    if (now >= this.#roleUntil && this.#roleAt(now) === null) return this.#endRevoked()
    const time = this.#tools.time()
    if (time - this.#pingedAt >= heartbeatMs) this.#heartbeat(time)
    if (time - this.#spokeAt >= this.#quietMs && this.#behind === null) {
      this.#send(this.encoder.awareness(emptyAwareness))
    }
  }

  /** Takes over what the directory says now: rights that have ended end the session at once. */
  changeAccess(access: DocumentAccess): void {
    this.#access = access
    this.#roleUntil = 0
    if (this.#state === 'open' && this.#roleAt(this.#tools.clock.now()) === null) this.#endRevoked()
  }

  pauseReading(): void {
    this.#holds += 1
    this.#parts.socket.pause()
  }

  resumeReading(): void {
    this.#holds -= 1
    if (this.#holds === 0) this.#parts.socket.resume()
  }

  message(data: Buffer, isBinary: boolean): void {
    if (this.#state === 'ended') return
    this.#heard()
    this.#meter.count(data.length, this)
    if (!isBinary) return this.end(close('bad', 'text messages are not part of this protocol'))
    try {
      this.#handle(this.encoder.decode(data))
    } catch (error) {
      if (!(error instanceof MalformedMessage || error instanceof MalformedUpdate)) throw error
      this.end(close('bad', messageOf(error).slice(0, 100)))
    }
    this.#tools.pressure.check(this)
  }

  ping(bytes: number): void {
    this.#meter.count(bytes, this)
  }

  pong(bytes: number): void {
    this.#heard()
    this.#meter.count(bytes, this)
  }

  #handle(message: Message): void {
    switch (message.kind) {
      case 'update':
      case 'offer':
        return this.#takeUpdate(message.kind, message.update)
      case 'vector':
        return this.#takeVector(message.vector)
      case 'awareness':
        return this.#takeAwareness(message.message)
      case 'queryAwareness':
        if (!this.#parts.socket.isFull) this.#showAll(this.#room.awareness.all())
    }
  }

  #takeAwareness(message: Uint8Array): void {
    const { awareness } = this.#room
    const entries = readAwareness(message, (clientId) => awareness.concerns(this, clientId))
    if (entries.length > 0) awareness.receive(this, entries)
  }

  /** A viewer's edits stay with the viewer: dropped, because its client offers them at every handshake. */
  #takeUpdate(kind: 'update' | 'offer', bytes: Uint8Array): void {
    const summary = readUpdate(bytes, this.#tools)
    if (this.#roleAt(this.#tools.clock.now()) !== 'editor') return
    if (this.#room.receive({ kind, bytes, summary, from: this })) return
    const reason = `a document has at most ${this.#tools.documentBytesMax} bytes`
    this.end(close('tooBig', reason, 'maxDocumentBytes'))
  }

  #roleAt(now: number): Role | null {
    if (now >= this.#roleUntil) {
      const { identity, address } = this.#parts
      const { role, until } = roleOn(identity, address, this.#access, now)
      this.#role = role
      this.#roleUntil = until
    }
    return this.#role
  }

  #sendVector(): void {
    const vector = this.#room.state.vector()
    this.#whenDurable(() => this.#send(this.encoder.vector(vector)))
  }

  #takeVector(vector: Uint8Array): void {
    readStateVector(vector)
    this.#answers.ask(vector)
  }

  get isFull(): boolean {
    return this.#parts.socket.isFull
  }

  answer(frame: Uint8Array): void {
    this.#send(frame)
    if (this.#parts.socket.isFull) this.#resumeWhenDrained()
  }

  #showAll(messages: readonly Uint8Array[]): void {
    for (const message of messages) this.#send(this.encoder.awareness(message))
  }

  /** Seen means safe: what is read from memory leaves only when the log has it. */
  #whenDurable(send: () => void): void {
    this.#room.durable.then(send, () => {})
  }

  #send(frames: Uint8Array): void {
    if (!this.#reachable) return
    this.#spokeAt = this.#tools.time()
    this.#parts.socket.write(frames)
  }

  get #reachable(): boolean {
    return this.#state === 'open' && this.#parts.socket.isOpen
  }

  /** From here on the client gets nothing, then one difference instead of everything it missed. */
  #fallBehind(): void {
    this.#behind = this.#room.deliveredVector()
    this.#tools.metrics.slowClients.inc()
    this.#report('sendBufferBytes')
    this.#resumeWhenDrained()
  }

  #resumeWhenDrained(): void {
    if (this.#waitingForDrain) return
    this.#waitingForDrain = true
    this.#parts.socket.whenDrained(() => {
      this.#waitingForDrain = false
      this.#catchUp()
      this.#answers.resume()
    })
  }

  #catchUp(): void {
    if (this.#behind === null) return
    const missed = this.#room.missed(this.#behind)
    this.#behind = null
    this.#tools.metrics.slowClients.dec()
    if (missed === null) return
    this.#whenDurable(() => this.#send(this.encoder.update(missed)))
    this.#showAll(this.#room.awareness.allAndDeparted())
  }

  #endRevoked(): void {
    this.end(revocations[this.#access.state])
  }

  #expire(): void {
    this.end(
      this.#parts.renews
        ? close('restarting', 'the token has expired: reconnect with a new one')
        : close('unauthenticated', 'the token has expired'),
    )
  }

  /** A client that has not answered the last ping is gone; one that we don't read from can't answer. */
  #heartbeat(time: number): void {
    if (this.#heardAt < this.#pingedAt && this.#holds === 0) return this.#parts.socket.terminate()
    this.#pingedAt = time
    this.#parts.socket.ping()
  }

  #report(limit: LimitName): void {
    this.#tools.reports.acted(limit, this.#parts.identity.tenant.workspaceId)
  }

  #heard(): void {
    this.#heardAt = this.#tools.time()
  }
}

/** Why sessions on a disabled document end. */
export const disabled = close('revoked', 'the document is disabled')

/** Why sessions whose user has no right any more end. */
const revocations: Readonly<Record<DocumentAccess['state'], Close>> = {
  open: close('revoked', 'the right to this document has ended'),
  disabled,
  deleted,
}
