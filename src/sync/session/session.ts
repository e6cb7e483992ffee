import type { Identity } from '../../access/identity.ts'
import type { Permission } from '../../access/realtime-access.ts'
import type { Role } from '../../access/roles/roles.ts'
import { errorMessage } from '../../errors.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { type Close, close, isPermanent } from '../../model/close.ts'
import type { LimitName } from '../../quota/limits.ts'
import type { LiveListener } from '../../rooms/room/live-messages.ts'
import type { CommittedUpdates, Member, MemberUser } from '../../rooms/room/member.ts'
import type { Room } from '../../rooms/room/room.ts'
import { readAwareness, writeAwareness } from '../../update/awareness.ts'
import { MalformedMessageError, MalformedUpdateError } from '../../update/malformed.ts'
import { readUpdate } from '../../update/read-update.ts'
import { readStateVector } from '../../update/state-vector.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { Message, Protocol } from '../protocols/message.ts'
import { receive } from '../receive.ts'
import type { SocketListener } from '../socket/client-socket.ts'
import { echoAfterMs, Heartbeat, stillWaitingMs } from '../socket/heartbeat.ts'
import { type BudgetedReader, newTickBudget } from '../socket/read-backpressure.ts'
import type { WorkspaceBucket } from '../socket/receive-rate-limit.ts'
import { ReadOnlyNotice } from './read-only-notice.ts'
import { SaveAcks } from './save-acks.ts'
import type { SessionDependencies, SessionOptions } from './session-options.ts'
import { SessionRole } from './session-role.ts'
import { SyncReplyQueue } from './sync-replies.ts'
import { TokenRefresh } from './token-refresh.ts'

/** How long to wait for what is missing before asking again. */
const askAgainAfterMs = 1_000

/** Says nothing; keeps a y-websocket client from thinking that the connection is dead. */
const emptyAwareness = writeAwareness([])

/** A byte of a state vector counts as this many bytes: it takes that many times as long as other bytes. */
const vectorByteCost = 15

/** One client's connection to one room. */
export class Session implements Member, LiveListener, BudgetedReader, SocketListener {
  readonly encoder: Protocol
  readonly user: MemberUser
  /** Is it one of several documents on a socket? */
  readonly isMultiplexed: boolean
  readonly share = newTickBudget()
  readonly #parts: SessionOptions
  readonly #tools: SessionDependencies
  readonly #room: Room
  readonly right: SessionRole
  readonly #pulse: Heartbeat
  /** Null: the client does not ask what is saved. */
  #saving: SaveAcks | null = null
  /** True if the client has answered the first state vector. */
  #hasOffered = false
  /** Echoes whose client has updates that wait to be applied. */
  #postponedEchoes = 0
  /** Has an update not been taken before the client asked? */
  #wasRefused = false
  readonly #readOnly = new ReadOnlyNotice()
  readonly #renewal: TokenRefresh | null
  /** State vector of what a slow client has; null while it keeps up. */
  #behind: Uint8Array | null = null
  readonly #answers: SyncReplyQueue
  readonly #meter: WorkspaceBucket
  /** Counted by the meter of a message that is incomplete. */
  #incompleteBytes = 0
  #askedAt = Number.NEGATIVE_INFINITY
  #waitingForDrain = false
  /** How many want nothing to be read for now. */
  #holds = 0
  #state: 'open' | 'ended' = 'open'

  constructor(parts: SessionOptions, tools: SessionDependencies) {
    this.#parts = parts
    this.#tools = tools
    this.#room = parts.lease.room
    this.encoder = parts.protocol
    const { identity, tokens } = parts
    this.isMultiplexed = tokens !== null
    this.right = new SessionRole({ ...parts, clock: tools.clock }, (role) => this.#tellRole(role))
    const { userId: id, name, email } = identity
    this.user = { id, name, email }
    this.#answers = new SyncReplyQueue(this.#room, this, parts.socket)
    this.#renewal = tokens === null ? null : new TokenRefresh(this, tokens)
    this.#meter = tools.inflow.enter(identity.tenant.workspaceId)
    this.#pulse = new Heartbeat(tools.time())
  }

  /** Joins the room and says what the room has. Nothing is sent before this. */
  start(): void {
    const { handshake, saves } = this.encoder
    this.#parts.socket.listen(this)
    if (saves !== null) this.#saving = this.#newSaving()
    this.right.roleAt(this.#tools.clock.now())
    this.#room.join(this)
    if (handshake === 'weAsk') this.#sendVector()
    this.#showAll(this.#room.awareness.all())
  }

  get workspaceId(): string {
    return this.#parts.identity.tenant.workspaceId
  }

  get identity(): Identity {
    return this.right.identity
  }

  get address(): DocumentAddress {
    return this.#parts.address
  }

  deliver(delivery: CommittedUpdates): void {
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
    if (isPermanent(reason)) this.#tools.rejections.closed(this.#parts.clientAddress, reason, this.address)
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
    if (now >= this.identity.expiresAt) return this.#expire()
    if (this.right.roleAt(now) === null) return this.#endRevoked()
    if (this.encoder.renew !== null && this.#renewal?.isDue(now)) this.tell(this.encoder.renew)
    this.#keepAlive()
    this.#answers.resume()
  }

  #keepAlive(): void {
    const time = this.#tools.time()
    const { socket } = this.#parts
    // A client that has not answered the last ping is gone; one that we don't read from can't answer.
    const beat = this.#pulse.beat(time, this.#holds === 0)
    if (beat === 'dead') return socket.terminate()
    if (beat === 'ping') socket.ping()
    if (this.#behind !== null || socket.isFull) return
    const isWaitedFor = this.#postponedEchoes > 0 || this.#saving?.isWaitedFor === true
    const isWaiting = isWaitedFor && this.#pulse.silentMs(time) >= stillWaitingMs
    if (isWaiting || this.#pulse.isTooSilent(time)) this.tell(this.encoder.awareness(emptyAwareness))
  }

  /** Takes over what the directory says now: rights that have ended end the session at once. */
  changePermission(permission: Permission): void {
    this.right.changePermission(permission)
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
    this.incomplete(0)
    this.#meter.count(data.length, this)
    if (!isBinary) return this.end(close('badRequest', 'text message received; this protocol is binary'))
    try {
      this.#handle(this.encoder.decode(data))
    } catch (error) {
      if (!(error instanceof MalformedMessageError || error instanceof MalformedUpdateError)) throw error
      this.end(close('badRequest', errorMessage(error).slice(0, 100)))
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

  incomplete(bytes: number): void {
    this.#meter.charge(bytes - this.#incompleteBytes, this.#state === 'open' ? this : null)
    this.#incompleteBytes = bytes
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
      const waiting = this.#room.waitingOf(this)
      if (waiting !== null) return this.#takeEchoAfter(waiting, body)
      // The client asks again.
      if (this.#room.holdsOf(this)) return
      this.#saving = this.#newSaving()
      if (this.#wasRefused) this.#saving.refused('update')
    }
    this.#saving.echoLater(body)
  }

  /** The client is not read until then, so that newer updates do not postpone the echo. */
  #takeEchoAfter(waiting: Promise<void>, body: Uint8Array): void {
    const kept = Uint8Array.from(body)
    this.#postponedEchoes += 1
    this.pauseReading()
    void waiting.then(() => {
      this.#postponedEchoes -= 1
      if (this.#state === 'open') this.#takeEcho(kept)
      this.resumeReading()
    })
  }

  #takeAwareness(message: Uint8Array): void {
    const { awareness } = this.#room
    const entries = readAwareness(message, (clientId) => awareness.concerns(this, clientId))
    if (entries.length > 0) awareness.receive(this, entries)
  }

  /** A viewer's edits stay with the viewer: dropped, because its client offers them at every handshake. */
  #takeUpdate(kind: 'update' | 'offer', bytes: Uint8Array): void {
    const summary = readUpdate(bytes, this.#tools)
    const saving = this.#saving
    if (kind === 'offer') this.#hasOffered = true
    if (this.#role !== 'editor') {
      if (this.#readOnly.isDue(this.#room, kind, bytes, summary)) this.tell(this.encoder.readOnly)
      return this.#refuseUpdate(kind, bytes, summary)
    }
    const taken = saving === null ? null : saving.came(kind)
    const refusal = receive(this.#tools, this.#room, { kind, bytes, summary, from: this, taken })
    if (refusal !== null) this.end(refusal)
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
    return this.right.roleAt(this.#tools.clock.now())
  }

  #tellRole(role: Role): void {
    this.#readOnly.reset()
    const frame = this.encoder.role?.(role) ?? null
    if (frame !== null) this.tell(frame)
  }

  /** A newer token of the same user has come. */
  renew(identity: Identity): void {
    this.right.renew(identity)
    if (this.#state === 'open' && this.#role === null) this.#endRevoked()
  }

  #newSaving(): SaveAcks {
    return new SaveAcks(this.encoder, this.#room, this.#hasOffered, this)
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
    this.#meter.count(vector.length * vectorByteCost, this)
    readStateVector(vector, this.#room.vectorClientsMax)
    if (this.encoder.handshake === 'asked') this.#saving?.restart()
    this.#answers.ask(vector)
  }

  get isFull(): boolean {
    return this.#parts.socket.isFull
  }

  answer(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.tell(frame)
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
    this.#showAll(this.#room.awareness.allAndTombstones())
  }

  #endRevoked(): void {
    this.end(this.right.ended)
  }

  #expire(): void {
    this.end(
      this.#parts.renews
        ? close('serviceRestart', 'token expired; reconnect with a new token')
        : close('unauthenticated', 'the token has expired'),
    )
  }

  #report(limit: LimitName): void {
    this.#tools.reports.exceeded(limit, this.#parts.identity.tenant.workspaceId)
  }
}
