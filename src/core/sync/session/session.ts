import type { Identity } from '../../access/identity.ts'
import type { Permission } from '../../access/realtime-access.ts'
import { ApiError, errorMessage } from '../../base/errors.ts'
import { fullMessage } from '../../directory/storage-quota.ts'
import type { AccessRole } from '../../directory/store/records.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { type Close, close, isPermanent } from '../../model/close.ts'
import { type LimitName, limitOf } from '../../quota/limits.ts'
import { type BudgetedReader, newTickBudget, pieceCostBytes } from '../../quota/tick-shares.ts'
import { vetUpdate } from '../../rooms/document/vet-update.ts'
import type { RoomHandle } from '../../rooms/registry/room-registry.ts'
import type { LiveListener } from '../../rooms/room/live-messages.ts'
import type { Connection, TransportName } from '../../rooms/room/open-connections.ts'
import type { Room } from '../../rooms/room/room.ts'
import type { ClientChange, Commit, Member, MemberUser } from '../../rooms/updates/change.ts'
import type { ConnectionTrace } from '../../tracing/trace.ts'
import { readAwareness, writeAwareness } from '../../update/awareness.ts'
import { MalformedMessageError, MalformedUpdateError } from '../../update/malformed.ts'
import { readStateVector } from '../../update/state-vector.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { Message, Protocol } from '../protocols/message.ts'
import type { SocketListener } from '../socket/client-socket.ts'
import { echoAfterMs, Heartbeat, pendingEchoSilenceMs } from '../socket/heartbeat.ts'
import type { WorkspaceBucket } from '../socket/receive-rate-limit.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'
import { SaveAcks } from './save-acks.ts'
import type { AuthenticatedClient, SessionStart } from './session-options.ts'
import { ReadOnlyNotice, SessionRole } from './session-role.ts'
import { TokenRefresh } from './socket-tokens.ts'
import { type UpdateMessage, UpdateVetting } from './update-vetting.ts'

/** Milliseconds in which a client that may have missed a prune must offer its edits. */
const offerMs = 10_000

/** Minimum milliseconds between two requests for missing updates. */
const requestAgainMs = 1_000

/**
 * An awareness message without states. The server sends this message to a silent connection, so that a
 * y-websocket client does not treat the connection as dead.
 */
const emptyAwareness = writeAwareness([])

/**
 * Number of bytes that the receive rate counts for each byte of a state vector, in addition to the byte
 * itself.
 */
const vectorByteCost = 15

/**
 * Minimum bytes of a document whose whole content counts as a large reply. A large reply waits while the
 * clients of the workspace have too many unread bytes.
 */
const largeReplyBytes = 65_536

/**
 * The state of sending updates to the client. A client that reads fast enough is `current` and receives each
 * commit. A slow client is `behind`: it receives no updates until its send buffer is empty, and then one
 * update with the difference between `vector` and the document. So is a client while it is `offering`: it may have
 * edits from before a prune, and updates could delete the types that contain them.
 */
type SessionState =
  | { readonly kind: 'current' }
  | { readonly kind: 'behind' | 'offering'; readonly vector: Uint8Array }
  | { readonly kind: 'ended' }

const current: SessionState = { kind: 'current' }
const ended: SessionState = { kind: 'ended' }

/** One client's connection to one room. */
export class Session implements Member, Connection, LiveListener, BudgetedReader, SocketListener {
  readonly protocol: Protocol
  readonly user: MemberUser
  /** True if the session is on a multiplexed websocket, which may carry several documents. */
  readonly isMultiplexed: boolean
  readonly echoes: boolean
  readonly budget = newTickBudget()
  readonly #client: AuthenticatedClient
  readonly #dependencies: SyncDependencies
  /** The trace of the connection; undefined if the connection is not traced. */
  readonly #trace: ConnectionTrace | undefined
  readonly address: DocumentAddress
  readonly #roomHandle: RoomHandle
  readonly #room: Room
  readonly recheck: () => Promise<void>
  readonly right: SessionRole
  readonly #heartbeat: Heartbeat
  /** The acknowledgments for the client; null if the client has not requested any. */
  #saveAcks: SaveAcks | null = null
  /** True if the client has replied to the first state vector of the server. */
  #hasOffered = false
  /** Number of echo requests that wait until earlier updates are part of the document. */
  #postponedEchoes = 0
  /** True if an update was rejected before the client requested its first echo. */
  #hasRejectedUpdate = false
  readonly #readOnly = new ReadOnlyNotice()
  readonly #tokenRefresh: TokenRefresh
  /**
   * The last state vector of the client without a reply; null if there is none. Its reply covers the vectors before it.
   */
  #vector: Uint8Array | null = null
  /** True while a state vector is being replied to. A reply may be a whole document, so there is one at a time. */
  #isAnswering = false
  /**
   * Time until which the client must offer its edits, because it may have missed a prune. If it has, it gets no reply
   * to a state vector until then: the reply would replace its edits.
   */
  #offersUntil: number
  readonly #bucket: WorkspaceBucket
  /** Number of bytes of the incomplete message that `#bucket` has already counted. */
  #incompleteBytes = 0
  #requestedAt = Number.NEGATIVE_INFINITY
  #waitingForDrain = false
  /** The vetting of a large update; null if there is none. */
  #vetting: UpdateVetting | null = null
  /** Number of active reasons to pause the socket. */
  #pauseCount = 0
  #state: SessionState = current

  constructor(
    client: AuthenticatedClient,
    { roomHandle, address, permission, meta }: SessionStart,
    recheck: () => Promise<void>,
    dependencies: SyncDependencies,
  ) {
    const { identity, protocol } = client
    this.#client = client
    this.#dependencies = dependencies
    this.#trace = client.trace
    this.address = address
    this.#roomHandle = roomHandle
    this.#room = roomHandle.room
    this.protocol = protocol
    this.isMultiplexed = client.isMultiplexed
    this.echoes = client.echoes
    this.recheck = recheck
    this.right = new SessionRole(this, identity, permission, dependencies.clock)
    const { userId: id, name, email, agent } = identity
    this.user = agent === null ? { id, name, email } : { id, name, email, kind: 'agent', meta }
    this.#tokenRefresh = new TokenRefresh(this, client.tokens)
    this.#bucket = dependencies.receiveRate.enter(identity.tenant.workspaceId)
    const now = dependencies.time()
    this.#heartbeat = new Heartbeat(now)
    this.#offersUntil = now + offerMs
  }

  /**
   * Joins the room and sends the first messages to the client. The session sends nothing before this call.
   */
  start(): void {
    const { handshake, saves } = this.protocol
    this.#client.socket.listen(this)
    if (saves !== null) this.#saveAcks = this.#newSaveAcks()
    this.right.roleAt(this.#dependencies.clock.now())
    this.#room.join(this)
    const { existence, memberCount: members, state } = this.#room
    this.#trace?.line('joined', { existence, members, bytes: state.sizeBytes })
    if (handshake === 'serverFirst') this.#sendVector()
    this.#sendAwareness(this.#room.awareness.all())
  }

  get workspaceId(): string {
    return this.#client.identity.tenant.workspaceId
  }

  get identity(): Identity {
    return this.right.identity
  }

  /** Origin of the page; undefined if the client is not a page. */
  get origin(): string | undefined {
    return this.#client.origin
  }

  get schemaVersion(): number | null {
    return this.#client.schemaVersion
  }

  get clientAddress(): string {
    return this.#client.clientAddress
  }

  get protocolName(): string {
    return this.protocol.name
  }

  /** The protocol, under the name that `Member` and `LiveListener` have for it. */
  get encoder(): Protocol {
    return this.protocol
  }

  get transport(): TransportName {
    return this.#client.socket.transport
  }

  get hasEnded(): boolean {
    return this.#state.kind === 'ended'
  }

  get isOpen(): boolean {
    return this.#state.kind !== 'ended' && this.#client.socket.isOpen
  }

  /** The current role of the user; null if the user has no role. */
  get role(): AccessRole | null {
    return this.right.roleAt(this.#dependencies.clock.now())
  }

  /** True if messages to the client are dropped: it is slow, or has left. */
  get #isBehind(): boolean {
    return this.#state.kind === 'behind' || this.#state.kind === 'ended'
  }

  get #mayWrite(): boolean {
    return this.right.mayWriteAt(this.#dependencies.clock.now())
  }

  deliver(committed: Commit): void {
    if (this.#state.kind !== 'current') return
    if (this.#client.socket.isFull) return this.#fallBehind()
    if (this.#mustOffer) return this.#holdBack()
    const frames = committed.bytesFor(this)
    if (frames === null) return
    if (this.#trace?.followsClient === true) this.#trace.line('update_sent', { bytes: frames.length })
    this.#share(frames)
  }

  #holdBack(): void {
    this.#setState({ kind: 'offering', vector: this.#room.broadcastVector() })
    // Without a request, the client would offer after the reply to its vector only.
    if (this.protocol.handshake === 'clientFirst') this.#requestAll()
  }

  deliverAwareness(frame: Uint8Array, own: boolean): void {
    if (this.#isBehind) return
    if (own && this.#heartbeat.silentMs(this.#dependencies.time()) < echoAfterMs) return
    if (this.#client.socket.isFull) return this.#fallBehind()
    this.#share(frame)
  }

  deliverLive(frame: Uint8Array): 'sent' | 'missed' {
    if (this.#isBehind || !this.#client.socket.isOpen) return 'missed'
    if (this.#client.socket.isFull) {
      this.#report('sendBufferBytes')
      return 'missed'
    }
    // Not shared, because live messages arrive in the order in which they were sent.
    this.send(frame)
    return 'sent'
  }

  /**
   * Sends a state vector to the client, unless the last request was less than `requestAgainMs` ago. The
   * client replies with an offer that contains all updates that the server lacks.
   */
  requestMissing(): void {
    const now = this.#dependencies.time()
    if (now - this.#requestedAt < requestAgainMs) return
    this.#requestedAt = now
    this.#requestAll()
  }

  end(reason: Close): void {
    if (this.#state.kind === 'ended') return
    this.#setState(ended)
    this.#trace?.line('closed', { by: 'server', code: reason.code, reason: reason.reason })
    if (reason.limit !== null) this.#report(reason.limit)
    if (isPermanent(reason))
      this.#dependencies.rejections.closed(this.clientAddress, reason, this.address, this.identity.tenant)
    this.#client.socket.close(reason.code, reason.reason)
    // The session leaves the room now, because the client may take a long time to reply to the close frame,
    // and other members must not see the client during that time.
    this.#room.leave(this)
    this.#client.socket.resume()
  }

  /**
   * Releases the resources of the session. Call it when the connection is closed.
   * @param code close code that the client has sent; undefined if it is unknown
   */
  closed(code: number | undefined): void {
    // A client may close directly after its last update, and the room takes updates of members only.
    if (this.#vetting === null) this.#room.endTick()
    const waiting = this.#vetting?.done ?? this.#room.waitingOf(this)
    if (waiting === null || this.hasEnded) this.#leave(code)
    else void waiting.then(() => this.closed(code))
  }

  #leave(code: number | undefined): void {
    if (this.#state.kind !== 'ended') this.#trace?.line('closed', { by: 'client', code })
    this.#setState(ended)
    this.#dependencies.backpressure.forget(this)
    this.#dependencies.receiveRate.leave(this.#bucket, this)
    this.#room.leave(this)
    this.#roomHandle.release()
  }

  /**
   * Does the periodic work of the session: ends it if its token or role has expired, sends heartbeats, and
   * terminates a dead connection. Call it about twice a second.
   */
  check(now: number): void {
    if (this.#state.kind === 'ended') return
    if (now >= this.identity.expiresAt) return this.#expire()
    if (this.right.roleAt(now) === null) return this.#endRevoked()
    if (this.protocol.renew !== null && this.#tokenRefresh.isDue(now)) this.send(this.protocol.renew)
    this.#keepAlive()
    this.#answerNext()
  }

  #keepAlive(): void {
    const time = this.#dependencies.time()
    const { socket } = this.#client
    // A client that has not replied to the last ping is dead, except if the socket is paused: then the server
    // may not have read the reply yet.
    const action = this.#heartbeat.check(time, this.#pauseCount === 0)
    if (action === 'dead') {
      this.#trace?.line('client_unresponsive')
      return socket.terminate()
    }
    if (action === 'ping') socket.ping()
    if (this.#isBehind || socket.isFull) return
    const isEchoPending = this.#postponedEchoes > 0 || this.#saveAcks?.isEchoPending === true
    const isEchoOverdue = isEchoPending && this.#heartbeat.silentMs(time) >= pendingEchoSilenceMs
    if (isEchoOverdue || this.#heartbeat.isSilenceTooLong(time))
      this.send(this.protocol.awareness(emptyAwareness))
  }

  /**
   * Replaces the permission with a newer one from the directory. Ends the session if the user then has no
   * role.
   */
  changePermission(permission: Permission): void {
    this.right.changePermission(permission)
    if (this.#state.kind !== 'ended' && this.role === null) this.#endRevoked()
  }

  pauseReading(): void {
    this.#pauseCount += 1
    this.#client.socket.pause()
  }

  resumeReading(): void {
    this.#pauseCount -= 1
    if (this.#pauseCount === 0) this.#client.socket.resume()
  }

  message(data: Buffer, isBinary: boolean): void {
    // The client may send until it has replied to the close.
    if (this.#state.kind === 'ended') return this.#dependencies.backpressure.check(this)
    this.#heartbeat.received(this.#dependencies.time())
    if (this.#incompleteBytes > 0) this.incomplete(0)
    this.#bucket.count(data.length, this)
    if (!isBinary) return this.end(close('badRequest', 'text message received; this protocol is binary'))
    try {
      const message = this.protocol.decode(data)
      if (this.#vetting === null) this.handle(message)
      else this.#vetting.defer(message)
    } catch (error) {
      if (!isMalformed(error)) throw error
      this.#endMalformed(error)
    }
    this.#dependencies.backpressure.check(this, 1, data.length)
  }

  #endMalformed(error: unknown): void {
    this.end(close('badRequest', errorMessage(error).slice(0, 100)))
  }

  messageTooLarge(_head: Buffer, bytes: number): void {
    if (this.#state.kind === 'ended') return
    if (this.#incompleteBytes > 0) this.incomplete(0)
    this.#bucket.count(bytes, this)
    const { messageBytesMax } = this.#dependencies
    this.end(close('tooLarge', `message larger than ${messageBytesMax} bytes`, 'maxMessageBytes'))
  }

  frames(count: number, bytes: number): void {
    this.#heartbeat.received(this.#dependencies.time())
    this.#charge(bytes + count * pieceCostBytes)
    this.#dependencies.backpressure.check(this, count)
  }

  incomplete(bytes: number): void {
    const more = bytes - this.#incompleteBytes
    this.#incompleteBytes = bytes
    this.#charge(more)
    if (more <= 0) return
    // A pong may only arrive after the message.
    this.#heartbeat.received(this.#dependencies.time())
    this.#dependencies.backpressure.received(this, more)
  }

  /** Charges bytes to the receive rate. A session that has ended is not paused, because the client must reply. */
  #charge(bytes: number): void {
    this.#bucket.charge(bytes, this.#state.kind !== 'ended' ? this : null)
  }

  handle(message: Message): void {
    switch (message.kind) {
      case 'update':
      case 'offer':
        return this.#receiveUpdate(message)
      case 'vector':
        return this.#receiveVector(message.vector)
      case 'awareness':
        return this.#receiveAwareness(message.message)
      case 'queryAwareness':
        return this.#answerQuery()
      case 'echo':
        return this.#receiveEcho(message.body)
      case 'live':
        return this.#publishLive(message.text)
      case 'token':
        return this.#tokenRefresh.receive(message.token)
    }
  }

  #publishLive(text: string): void {
    const { userId } = this.identity
    if (this.#mayWrite) this.#dependencies.rooms.live.say(this.address, text, { from: this, userId })
  }

  /**
   * Handles an echo request. Acknowledgments start with the first echo request. All earlier updates must be
   * part of the document at that time, so that the wait for durability includes them.
   */
  #receiveEcho(body: Uint8Array): void {
    if (this.#saveAcks === null) {
      this.#room.endTick()
      const waiting = this.#room.waitingOf(this)
      if (waiting !== null) return this.#receiveEchoAfter(waiting, body)
      // While updates of the client are pending, the request is ignored, because the client repeats it.
      if (this.#room.hasPendingOf(this)) return
      this.#saveAcks = this.#newSaveAcks()
      if (this.#hasRejectedUpdate) this.#saveAcks.rejected('update')
    }
    this.#saveAcks.echoLater(body)
  }

  /**
   * Handles the echo request when `waiting` resolves. The socket is not read until then, so that newer
   * updates do not postpone the echo.
   */
  #receiveEchoAfter(waiting: Promise<void>, body: Uint8Array): void {
    const kept = Uint8Array.from(body)
    this.#postponedEchoes += 1
    this.pauseReading()
    void waiting.then(() => {
      this.#postponedEchoes -= 1
      if (this.#state.kind !== 'ended') this.#receiveEcho(kept)
      this.resumeReading()
    })
  }

  /** Sends all states. Without any, sends an empty message, because clients also query to test the connection. */
  #answerQuery(): void {
    if (this.#client.socket.isFull) return
    const states = this.#room.awareness.all()
    this.#sendAwareness(states.length > 0 ? states : [emptyAwareness])
  }

  #receiveAwareness(message: Uint8Array): void {
    const { awareness } = this.#room
    const entries = readAwareness(message, (clientId) => awareness.concerns(this, clientId))
    if (entries.length > 0) awareness.receive(this, entries)
  }

  #receiveUpdate(message: UpdateMessage): void {
    const summary = vetUpdate(message.update, this.#room.dependencies.slices, this.workspaceId)
    if (!(summary instanceof Promise)) return this.useUpdate(message, summary)
    if (this.#vetting === null) this.#vetting = new UpdateVetting(this, { message, summary })
    else this.#vetting.add({ message, summary })
  }

  vettingEnded(): void {
    this.#vetting = null
  }

  vettingFailed(error: unknown): void {
    if (isMalformed(error)) return this.#endMalformed(error)
    this.#dependencies.faults.log(error, 'a message of a client could not be handled')
    this.end(close('tryAgainLater', 'a message could not be handled: try again'))
  }

  /**
   * Handles a vetted update of the client: passes it to the room if the user may write the editor. Other
   * updates are dropped. They do not end the session, because the client offers them again at each handshake.
   */
  useUpdate({ kind, update: bytes }: UpdateMessage, summary: UpdateSummary): void {
    if (this.#trace !== undefined) traceUpdate(this.#trace, kind, bytes, summary)
    const saveAcks = this.#saveAcks
    if (kind === 'offer') this.#hasOffered = true
    if (!this.#mayWrite) {
      this.#trace?.line('update_rejected', { reason: 'the client has no right to edit' })
      if (this.#readOnly.isDue(this.#room, kind, bytes, summary))
        this.send(this.protocol.readOnly(this.right.readOnlyReason))
      this.#rejectUpdate(kind, bytes, summary)
      return this.#answerNext()
    }
    const onApplied = saveAcks === null ? null : saveAcks.received(kind)
    const { id: by, meta = null } = this.user
    const rejection = this.#passToRoom({ bytes, summary, by, from: this, meta, kind, onApplied })
    if (rejection !== null) this.end(rejection)
    else if (kind === 'offer') this.#answerNext()
  }

  /**
   * Passes an update to the room. Returns null if the room accepts the update. If the update exceeds a limit,
   * returns the reason to close the socket. A workspace at its storage limit still accepts updates that only
   * delete, and offers of stored content.
   */
  #passToRoom(change: ClientChange): Close | null {
    const { storage, documentBytesMax } = this.#dependencies
    const { bytes, summary } = change
    const bytesMax = storage.fullAt(this.workspaceId)
    if (bytesMax !== null && summary.clients.length > 0 && !this.#room.contains(bytes, summary))
      return close(
        'tooLarge',
        `${fullMessage(bytesMax)}; delete something first`,
        'maxStoredBytesPerWorkspace',
      )
    if (!this.#room.receive(change))
      return close(
        'tooLarge',
        `the content of an editor has at most ${documentBytesMax} bytes`,
        'maxDocumentBytes',
      )
    return null
  }

  /**
   * Counts a dropped update for the acknowledgments. A requested offer that contains nothing new
   * counts as saved, so that the client does not show content from the server as unsaved.
   */
  #rejectUpdate(kind: 'update' | 'offer', bytes: Uint8Array, summary: UpdateSummary): void {
    const saveAcks = this.#saveAcks
    // Only updates count here: an offer mostly contains content that the server has sent.
    this.#hasRejectedUpdate ||= saveAcks === null && kind === 'update'
    if (saveAcks === null) return
    const isKnown = kind === 'offer' && saveAcks.expectsOffer && this.#room.contains(bytes, summary)
    if (isKnown) saveAcks.received(kind)()
    else saveAcks.rejected(kind)
  }

  roleChanged(role: AccessRole, mayWrite: boolean): void {
    this.#readOnly.reset()
    this.#trace?.line('role', { role })
    const frame = this.protocol.right?.(mayWrite, role, this.right.isOutdated) ?? null
    if (frame !== null) this.send(frame)
  }

  /**
   * Replaces the identity with the one from a newer token of the same user. Ends the session if the user then
   * has no role.
   */
  renew(identity: Identity): void {
    const hadGrants = this.identity.grants !== null
    this.right.renew(identity)
    // Without grants, the backend may have to decide, which it had not to do for the token before.
    if (hadGrants && identity.grants === null)
      this.right
        .recheck()
        .catch(() => this.end(close('tryAgainLater', 'the token could not be checked: try again')))
    if (this.#state.kind !== 'ended' && this.role === null) this.#endRevoked()
  }

  #newSaveAcks(): SaveAcks {
    return new SaveAcks(this.protocol, this.#room, this.#hasOffered, this)
  }

  #requestAll(): void {
    this.#saveAcks?.offerRequested()
    this.#sendVector()
  }

  #sendVector(): void {
    const vector = this.#room.state.vector()
    this.#trace?.line('sync_step1_sent', { bytes: vector.length })
    this.#whenDurable(() => this.send(this.protocol.vector(vector)))
  }

  #receiveVector(vector: Uint8Array): void {
    this.#bucket.count(vector.length * vectorByteCost, this)
    const clocks = readStateVector(vector, this.#room.vectorClientsMax)
    this.#trace?.line('sync_step1_received', { bytes: vector.length })
    if (this.protocol.handshake === 'clientFirst') this.#saveAcks?.restart()
    this.#vector = Uint8Array.from(vector)
    const { generations } = this.#room
    if (!generations.areMissedBy(clocks)) {
      if (generations.count > 0) this.#offersUntil = Number.NEGATIVE_INFINITY
    } else if (!this.#hasOffered && this.protocol.handshake === 'clientFirst') this.#requestAll()
    this.#answerNext()
  }

  /** Replies to the waiting state vector, if the reply need not wait. Without one, sends what the client has missed. */
  #answerNext(): void {
    const vector = this.#vector
    if (this.#isAnswering) return
    if (vector === null) return this.#catchUp()
    if (this.#mustWait(vector) || this.#mustOffer) return
    this.#vector = null
    this.#isAnswering = true
    this.#room.scheduleAnswer(() => this.#answer(vector))
  }

  get #mustOffer(): boolean {
    const isPruned = this.#room.generations.count > 0
    return isPruned && !this.#hasOffered && this.#dependencies.time() < this.#offersUntil
  }

  #mustWait(vector: Uint8Array): boolean {
    const { isFull, isCrowded } = this.#client.socket
    // A client without content sends a vector without clients.
    const isWhole = vector[0] === 0 && this.#room.state.sizeBytes >= largeReplyBytes
    return isFull || (isCrowded && isWhole)
  }

  #answer(vector: Uint8Array): void {
    if (!this.#client.socket.isOpen) return
    // The reply must include the updates that the client sent before the vector.
    this.#room.endTick()
    const waiting = this.#room.waitingOf(this)
    if (waiting !== null) return this.#answerAfter(waiting, vector)
    const reply = (): void => {
      if (this.#client.socket.isOpen && !this.#room.hasEnded) this.#reply(vector)
    }
    if (this.#room.answering.mustEncode(vector)) return this.#answerWhen(this.#room.whenEncoded(reply))
    if (this.#mustOpenFor(vector)) return this.#answerWhen(this.#room.openFor('doc').then(reply))
    reply()
  }

  #reply(vector: Uint8Array): void {
    const frames = this.#room.answer(this.protocol, vector)
    // The reply has all updates that were held back.
    if (this.#state.kind === 'offering') this.#setState(current)
    if (frames !== null) this.#whenDurable(() => this.#sendReply(frames))
  }

  /**
   * Replies when `waiting` resolves. The socket is not read until then, so that newer updates do not postpone
   * the reply.
   */
  #answerAfter(waiting: Promise<void>, vector: Uint8Array): void {
    this.pauseReading()
    const answer = (): void => {
      this.#answer(vector)
      this.resumeReading()
    }
    void waiting.then(() => this.#room.scheduleAnswer(answer))
  }

  #mustOpenFor(vector: Uint8Array): boolean {
    return vector.length > 1 && this.#room.state.mustOpenFor(vector)
  }

  /** Waits for an answer that needs slices or a thread. The socket is not read until then, as in `#answerAfter`. */
  #answerWhen(answered: Promise<void>): void {
    this.pauseReading()
    answered.then(() => this.resumeReading(), this.#refused)
  }

  readonly #refused = (error: unknown): void => {
    if (!(error instanceof ApiError)) return this.#room.fail(error)
    this.end(close('tryAgainLater', 'the document could not be read: try again', limitOf(error)))
  }

  get isFull(): boolean {
    return this.#client.socket.isFull
  }

  #sendReply(frames: readonly Uint8Array[]): void {
    this.#trace?.line('sync_step2_sent', { bytes: frames.reduce((sum, { length }) => sum + length, 0) })
    for (const frame of frames) this.send(frame)
    if (this.protocol.handshake === 'clientFirst') this.#requestAll()
    if (this.#client.socket.isFull) this.awaitDrain()
    this.#isAnswering = false
    this.#answerNext()
  }

  #sendAwareness(messages: readonly Uint8Array[]): void {
    for (const message of messages) this.send(this.protocol.awareness(message))
  }

  /**
   * Calls `send` when the current state of the document is durable, because only durable changes may leave
   * the server.
   */
  #whenDurable(send: () => void): void {
    this.#room.durable.then(send, () => {})
  }

  send(frames: Uint8Array): void {
    if (this.#mayBeSent(frames)) this.#client.socket.write(frames)
  }

  /** Sends frames that other members get as well, in the same buffer. */
  #share(frames: Uint8Array): void {
    if (this.#mayBeSent(frames)) this.#client.socket.share(frames)
  }

  /** Returns whether the session is open, and counts the frames. */
  #mayBeSent(frames: Uint8Array): boolean {
    if (!this.isOpen) return false
    this.#heartbeat.sent(this.#dependencies.time())
    this.#room.usage.bytesSent += frames.length
    return true
  }

  #setState(state: SessionState): void {
    const { slowClients } = this.#dependencies.metrics
    if (this.#state.kind === 'behind') slowClients.dec()
    if (state.kind === 'behind') slowClients.inc()
    this.#state = state
  }

  /**
   * Stops sending updates to the client until its send buffer is empty. The client then receives one update
   * with everything that it has missed.
   */
  #fallBehind(): void {
    const vector = 'vector' in this.#state ? this.#state.vector : this.#room.broadcastVector()
    this.#setState({ kind: 'behind', vector })
    this.#trace?.line('client_behind')
    this.#report('sendBufferBytes')
    this.awaitDrain()
  }

  awaitDrain(): void {
    if (this.#waitingForDrain) return
    this.#waitingForDrain = true
    this.#client.socket.whenDrained(() => {
      this.#waitingForDrain = false
      this.#catchUp()
      this.#answerNext()
      this.#saveAcks?.resume()
    })
  }

  #catchUp(): void {
    if (!('vector' in this.#state) || this.#waitingForDrain || this.#mustOffer) return
    const { kind, vector } = this.#state
    if (this.#mustOpenFor(vector)) {
      const again = (): void => {
        if (!this.#room.hasEnded) this.#catchUp()
      }
      return void this.#room.openFor('doc').then(again).catch(this.#refused)
    }
    const missed = this.#room.missed(vector)
    if (missed === null) return
    this.#setState(current)
    this.#trace?.line('client_caught_up', { bytes: missed.length })
    this.#whenDurable(() => this.send(this.protocol.update(missed)))
    if (kind === 'behind') this.#sendAwareness(this.#room.awareness.allAndTombstones())
  }

  #endRevoked(): void {
    this.end(this.right.closeReason)
  }

  #expire(): void {
    this.end(
      this.#client.renews
        ? close('serviceRestart', 'token expired; reconnect with a new token')
        : close('unauthenticated', 'the token has expired'),
    )
  }

  #report(limit: LimitName): void {
    this.#dependencies.reports.exceeded(limit, this.#client.identity.tenant.workspaceId)
  }
}

const isMalformed = (error: unknown): boolean =>
  error instanceof MalformedMessageError || error instanceof MalformedUpdateError

function traceUpdate(
  { line }: ConnectionTrace,
  kind: 'update' | 'offer',
  { length: bytes }: Uint8Array,
  { structs, deletes }: UpdateSummary,
): void {
  line(kind === 'offer' ? 'sync_step2_received' : 'update_received', { bytes, structs, deletes })
}
