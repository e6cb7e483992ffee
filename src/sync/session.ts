import type { DocumentAccess } from '../access/document-access.ts'
import type { Identity } from '../access/identity.ts'
import type { Role } from '../access/roles.ts'
import { messageOf } from '../errors.ts'
import type { DocumentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import type { LimitName } from '../quota/limits.ts'
import type { Listener } from '../rooms/live.ts'
import type { Delivered, Member, MemberUser } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import { readAwareness, writeAwareness } from '../update/awareness.ts'
import { MalformedMessage, MalformedUpdate } from '../update/malformed.ts'
import { readUpdate } from '../update/read.ts'
import type { UpdateSummary } from '../update/summary.ts'
import { readStateVector } from '../update/vector.ts'
import { Answers } from './answers.ts'
import type { SocketListener } from './client-socket.ts'
import { Greeting } from './greeting.ts'
import type { Meter } from './inflow.ts'
import { newShare, type TurnReader } from './pressure.ts'
import type { Message, Protocol } from './protocols/message.ts'
import { Pulse } from './pulse.ts'
import { Renewal } from './renewal.ts'
import { Rights } from './rights.ts'
import { Saving } from './saving.ts'
import type { SessionParts, SessionTools } from './session-parts.ts'

/** An own awareness renewal is echoed when the client has heard nothing for this long: y-websocket hangs up after 30 s. */
const echoAfterMs = 5_000

/** How long to wait for what is missing before asking again. */
const askAgainAfterMs = 1_000

/** Y-Sweet hangs up when it has heard nothing for 3 s after asking what is saved; that may take longer. */
const stillWaitingMs = 1_000

/** Says nothing; keeps a y-websocket client from thinking that the connection is dead. */
const emptyAwareness = writeAwareness([])

/** One client's connection to one room. */
export class Session implements Member, Listener, TurnReader, SocketListener {
  readonly encoder: Protocol
  readonly user: MemberUser
  /** Is it one of several documents on a socket? */
  readonly isShared: boolean
  readonly share = newShare()
  readonly #parts: SessionParts
  readonly #tools: SessionTools
  readonly #room: Room
  readonly #rights: Rights
  readonly #pulse: Pulse
  /** Null: the client does not ask what is saved. */
  #saving: Saving | null = null
  readonly #greeting: Greeting
  /** Has an update not been taken before the client asked? */
  #wasRefused = false
  readonly #renewal: Renewal | null
  /** State vector of what a slow client has; null while it keeps up. */
  #behind: Uint8Array | null = null
  readonly #answers: Answers
  readonly #meter: Meter
  #askedAt = Number.NEGATIVE_INFINITY
  #waitingForDrain = false
  /** How many want nothing to be read for now. */
  #holds = 0
  #state: 'open' | 'ended' = 'open'

  constructor(parts: SessionParts, tools: SessionTools) {
    this.#parts = parts
    this.#tools = tools
    this.#room = parts.lease.room
    this.encoder = parts.protocol
    const { identity, address, access, tokens } = parts
    this.isShared = tokens !== null
    this.#rights = new Rights(identity, address, access, (role) => this.#tellRole(role))
    const { userId: id, name, email } = identity
    this.user = { id, name, email }
    this.#greeting = new Greeting(this.#room, this)
    this.#answers = new Answers(this.#room, this)
    this.#renewal = tokens === null ? null : new Renewal(this, tokens)
    this.#meter = tools.inflow.enter(identity.tenant.workspaceId)
    this.#pulse = new Pulse(tools.time())
  }

  /** Joins the room and says what the room has. Nothing is sent before this. */
  start(): void {
    const { handshake, saves } = this.encoder
    this.#parts.socket.listen(this)
    if (saves !== null) this.#saving = this.#newSaving()
    this.#rights.roleAt(this.#tools.clock.now())
    this.#room.join(this)
    if (handshake === 'weAsk') this.#sendVector()
    this.#greeting.say((frame) => this.tell(frame))
  }

  get workspaceId(): string {
    return this.#parts.identity.tenant.workspaceId
  }

  get identity(): Identity {
    return this.#rights.identity
  }

  get address(): DocumentAddress {
    return this.#parts.address
  }

  deliver(delivery: Delivered): void {
    if (this.#behind !== null) return
    if (this.#parts.socket.isFull) return this.#fallBehind()
    const frames = delivery.bytesFor(this)
    if (frames !== null) this.tell(frames)
  }

  deliverAwareness(frame: Uint8Array, own: boolean): void {
    if (this.#behind !== null) return
    if (own && this.#pulse.silentMs(this.#tools.time()) < echoAfterMs) return
    if (this.#parts.socket.isFull) return this.#fallBehind()
    this.tell(frame)
  }

  deliverLive(frame: Uint8Array): 'sent' | 'missed' {
    if (!this.#reachable || this.#behind !== null) return 'missed'
    if (this.#parts.socket.isFull) {
      this.#report('sendBufferBytes')
      return 'missed'
    }
    this.tell(frame)
    return 'sent'
  }

  /** One question is enough for a while: the answer holds all that the client has. */
  askForMissing(): void {
    const now = this.#tools.time()
    if (now - this.#askedAt < askAgainAfterMs) return
    this.#askedAt = now
    this.#askForAll()
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
    const { expiresAt } = this.identity
    if (now >= expiresAt) return this.#expire()
    if (this.#rights.roleAt(now) === null) return this.#endRevoked()
    if (this.encoder.renew !== null && this.#renewal?.isDue(now)) this.tell(this.encoder.renew)
    this.#keepAlive()
  }

  #keepAlive(): void {
    const time = this.#tools.time()
    const { socket } = this.#parts
    // A client that has not answered the last ping is gone; one that we don't read from can't answer.
    const beat = this.#pulse.beat(time, this.#holds === 0)
    if (beat === 'dead') return socket.terminate()
    if (beat === 'ping') socket.ping()
    if (this.#behind !== null || socket.isFull) return
    const isWaiting = this.#saving?.isWaitedFor === true && this.#pulse.silentMs(time) >= stillWaitingMs
    if (isWaiting || this.#pulse.isTooSilent(time)) this.tell(this.encoder.awareness(emptyAwareness))
  }

  /** Takes over what the directory says now: rights that have ended end the session at once. */
  changeAccess(access: DocumentAccess): void {
    this.#rights.changeAccess(access)
    if (this.#state === 'open' && this.#role === null) this.#endRevoked()
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
    this.#pulse.heard(this.#tools.time())
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
    this.#pulse.heard(this.#tools.time())
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
        return
      case 'echo':
        return this.#takeEcho(message.body)
      case 'live':
        return this.#say(message.text)
      case 'token':
        return this.#renewal?.take(message.token)
    }
  }

  #say(text: string): void {
    const { userId } = this.identity
    if (this.#role === 'editor') this.#tools.live.say(this.address, text, { from: this, userId })
  }

  /** Only who asks is looked after like this: what has come before must be on its way to the disk then. */
  #takeEcho(body: Uint8Array): void {
    if (this.#saving === null) {
      this.#room.turn()
      // The client asks again.
      if (this.#room.isHeld || this.#room.holdsOf(this)) return
      this.#saving = this.#newSaving()
      if (this.#wasRefused) this.#saving.refused('update')
    }
    this.#saving.echoLater(body)
  }

  #takeAwareness(message: Uint8Array): void {
    const { awareness } = this.#room
    const entries = readAwareness(message, (...which) => awareness.concerns(this, ...which))
    if (entries.length > 0) awareness.receive(this, entries)
  }

  /** A viewer's edits stay with the viewer: dropped, because its client offers them at every handshake. */
  #takeUpdate(kind: 'update' | 'offer', bytes: Uint8Array): void {
    const summary = readUpdate(bytes, this.#tools)
    const saving = this.#saving
    if (kind === 'offer') this.#greeting.offered()
    if (this.#role !== 'editor') return this.#refuseUpdate(kind, bytes, summary)
    const taken = saving === null ? null : saving.came(kind)
    if (this.#room.receive({ kind, bytes, summary, from: this, taken })) return
    const reason = `a document has at most ${this.#tools.documentBytesMax} bytes`
    this.end(close('tooBig', reason, 'maxDocumentBytes'))
  }

  /** Who may only look is not told that something is unsaved of what we have said ourselves. */
  #refuseUpdate(kind: 'update' | 'offer', bytes: Uint8Array, summary: UpdateSummary): void {
    const saving = this.#saving
    // What is offered is mostly what we have said ourselves.
    this.#wasRefused ||= saving === null && kind === 'update'
    if (saving === null) return
    const isKnown = kind === 'offer' && saving.expectsOffer && this.#room.contains(bytes, summary)
    if (isKnown) saving.came(kind)()
    else saving.refused(kind)
  }

  get #role(): Role | null {
    return this.#rights.roleAt(this.#tools.clock.now())
  }

  #tellRole(role: Role): void {
    const frame = this.encoder.role?.(role) ?? null
    if (frame !== null) this.tell(frame)
  }

  /** A newer token of the same user has come. */
  renew(identity: Identity): void {
    this.#rights.renew(identity)
    if (this.#state === 'open' && this.#role === null) this.#endRevoked()
  }

  #newSaving(): Saving {
    return new Saving(this.encoder, this.#room, this.#greeting.hasOffered, this)
  }

  #askForAll(): void {
    this.#saving?.asked()
    this.#sendVector()
  }

  #sendVector(): void {
    const vector = this.#room.state.vector()
    this.#whenDurable(() => this.tell(this.encoder.vector(vector)))
  }

  #takeVector(vector: Uint8Array): void {
    this.#greeting.has(readStateVector(vector).size)
    if (this.encoder.handshake === 'asked') this.#saving?.restart()
    this.#answers.ask(vector)
  }

  get isFull(): boolean {
    return this.#parts.socket.isFull
  }

  answer(frame: Uint8Array): void {
    this.tell(frame)
    if (this.encoder.handshake === 'asked') this.#askForAll()
    if (this.#parts.socket.isFull) this.awaitRoom()
  }

  #showAll(messages: readonly Uint8Array[]): void {
    for (const message of messages) this.tell(this.encoder.awareness(message))
  }

  /** Seen means safe: what is read from memory leaves only when the log has it. */
  #whenDurable(send: () => void): void {
    this.#room.durable.then(send, () => {})
  }

  tell(frames: Uint8Array): void {
    if (!this.#reachable) return
    this.#pulse.spoke(this.#tools.time())
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
    this.awaitRoom()
  }

  awaitRoom(): void {
    if (this.#waitingForDrain) return
    this.#waitingForDrain = true
    this.#parts.socket.whenDrained(() => {
      this.#waitingForDrain = false
      this.#catchUp()
      this.#answers.resume()
      this.#saving?.resume()
    })
  }

  #catchUp(): void {
    if (this.#behind === null) return
    const missed = this.#room.missed(this.#behind)
    this.#behind = null
    this.#tools.metrics.slowClients.dec()
    if (missed === null) return
    this.#whenDurable(() => this.tell(this.encoder.update(missed)))
    this.#showAll(this.#room.awareness.allAndDeparted())
  }

  #endRevoked(): void {
    this.end(this.#rights.ended)
  }

  #expire(): void {
    this.end(
      this.#parts.renews
        ? close('restarting', 'the token has expired: reconnect with a new one')
        : close('unauthenticated', 'the token has expired'),
    )
  }

  #report(limit: LimitName): void {
    this.#tools.reports.acted(limit, this.#parts.identity.tenant.workspaceId)
  }
}
