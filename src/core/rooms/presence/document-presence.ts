import type { Clock } from '../../base/clock.ts'
import type { VisitListener } from '../../events/visit-tracker.ts'
import type { DocumentScope } from '../../model/address.ts'
import type { Member } from '../updates/member.ts'
import { ClusterUsers } from './cluster-users.ts'
import {
  type ConnectedUser,
  entryOf,
  isPresent,
  joinEntries,
  type PresenceEntry,
  socketUserOf,
  type UserSocket,
  virtualUserEntry,
  visitorInSockets,
  visitorOf,
} from './presence-entry.ts'
import type { ClientRecord, NodeUserRecord } from './presence-records.ts'
import type { PresenceReplica, PresenceReplicaOwner } from './presence-replica.ts'
import type { PresenceSync } from './presence-sync.ts'
import type { RemoteChanges } from './remote-presence.ts'
import type { PresenceKind, RestPresence } from './rest-presence.ts'
import { type NewWriter, type ShownWriter, WriterCaret, writerTtlMs } from './shown-writer.ts'
import {
  type BroadcastTiming,
  type VirtualUser,
  type VirtualUserCount,
  VirtualUserList,
  type VirtualUserState,
} from './virtual-users.ts'

/** Maximum length of a status in characters. A longer status in the state of a client is ignored. */
export const statusLengthMax = 200

export interface PresenceInput extends RestPresence {
  readonly userId: string
}

/**
 * The user that the server publishes in the awareness state of a client, instead of the user that the client
 * sends.
 */
export interface PublishedUser {
  readonly id: string
  readonly name: string
  readonly status?: string
  readonly kind?: PresenceKind
  readonly data?: Readonly<Record<string, unknown>>
}

/** An open room of the document. It publishes the presence of the document as awareness states. */
export interface PresenceObserver {
  readonly editorId: string
  /** Reads and publishes the fields of these users again, because the fields have changed. */
  refresh(userIds: ReadonlySet<string>): void
  setVirtualUser(state: VirtualUserState, timing: BroadcastTiming): void
  /**
   * Reads and publishes the states of these clients again, because the states have changed on other nodes.
   */
  refreshRemote(clientIds: Iterable<number>): void
  /**
   * Returns the record of a client that this node publishes to other nodes; null if the client has no state
   * on this node.
   */
  clientRecord(clientId: number): ClientRecord | null
  clientIds(): Iterable<number>
}

interface Socket extends UserSocket {
  readonly observer: PresenceObserver
}

/**
 * The users of one document: users with a socket in any room of the document, and virtual users, whom REST
 * has added. A user cannot be both. When the user of a virtual user connects, the virtual user ends. From
 * then on, the user is present until its last socket closes.
 */
export class DocumentPresence implements PresenceReplicaOwner {
  readonly replica: PresenceReplica
  readonly document: DocumentScope
  readonly #clock: Clock
  readonly #total: VirtualUserCount
  /** Receives joins and leaves. */
  readonly #visits: VisitListener
  /** Called when the presence may have become empty, so that it can be deleted. */
  readonly #emptied: () => void
  readonly #observers = new Set<PresenceObserver>()
  readonly #connected = new Map<string, ConnectedUser<Socket>>()
  /** The virtual users; null until the first one is added, because most documents never have any. */
  #virtualUsers: VirtualUserList | null = null
  /** The users of the document on all nodes. */
  readonly #users: ClusterUsers

  /** @param sync exchanges the presence of the document with the other nodes */
  constructor(
    document: DocumentScope,
    clock: Clock,
    total: VirtualUserCount,
    visits: VisitListener,
    sync: Pick<PresenceSync, 'add'>,
    emptied: () => void,
  ) {
    this.document = document
    this.#clock = clock
    this.#total = total
    this.#visits = visits
    this.#emptied = emptied
    this.replica = sync.add(document, this)
    this.#users = new ClusterUsers(this.replica, clock)
  }

  /**
   * True if there are no users and no rooms. The object can then be deleted, because a new object would have
   * the same state.
   */
  get isEmpty(): boolean {
    return this.#observers.size === 0 && !this.#hasVirtualUsers && !this.replica.isOpen
  }

  get isIdle(): boolean {
    return this.#connected.size === 0 && !this.#hasVirtualUsers
  }

  get #hasVirtualUsers(): boolean {
    return this.#virtualUsers !== null && this.#virtualUsers.size > 0
  }

  addObserver(observer: PresenceObserver): void {
    this.#observers.add(observer)
    for (const state of this.#virtualUsers?.states() ?? []) observer.setVirtualUser(state, 'tick')
  }

  /** Removes a closed room, and the sockets in this room. */
  removeObserver(observer: PresenceObserver): void {
    this.#observers.delete(observer)
    for (const { sockets } of this.#connected.values())
      for (const [member, socket] of sockets) if (socket.observer === observer) this.removeSocket(member)
    this.#emptied()
  }

  addSocket(member: Member, observer: PresenceObserver): void {
    const { id } = member.user
    const virtualUser = this.#virtualUsers?.get(id)
    const connected = this.#connected.get(id) ?? this.#newConnection(id, virtualUser?.fields)
    const isNewUser = !this.#isShown(id)
    this.#connected.set(id, connected)
    connected.sockets.set(member, {
      observer,
      editorId: observer.editorId,
      joined: this.replica.logicalClock.next(),
      shown: 'present',
      deletedAt: 0,
      lastSeen: this.#clock.now(),
      status: undefined,
    })
    if (virtualUser !== undefined) this.#virtualUsers?.remove([id])
    const visitor = isNewUser ? visitorInSockets(connected) : null
    if (visitor !== null) this.#visits.joined(this.document, visitor)
    this.#users.connected(id)
  }

  /**
   * Removes the socket of a member. The fields that REST has set for a user end with the last socket of the
   * user.
   */
  removeSocket(member: Member): void {
    const { id } = member.user
    const connected = this.#connected.get(id)
    if (connected === undefined) return
    const visitor = visitorInSockets(connected)
    connected.sockets.delete(member)
    if (connected.sockets.size === 0) this.#connected.delete(id)
    this.replica.userChanged(id)
    if (isPresent(connected)) return
    connected.fields = {}
    connected.fieldsAt = 0
    if (visitor !== null && !this.#isShown(id)) this.#visits.left(this.document, visitor)
  }

  /**
   * Records that the client of a member is alive.
   * @param status the status of the user in the awareness state of the client
   */
  observe(member: Member, status: unknown): void {
    const socket = this.#connected.get(member.user.id)?.sockets.get(member)
    if (socket === undefined) return
    socket.lastSeen = this.#clock.now()
    const before = socket.status
    socket.status = typeof status === 'string' && status.length <= statusLengthMax ? status : undefined
    if (socket.status !== before) this.replica.userChanged(member.user.id, 'status')
  }

  /** Returns the user to publish in the state of a member; null if REST has deleted the user. */
  userOf(member: Member): PublishedUser | null {
    const connected = this.#connected.get(member.user.id)
    if (connected?.sockets.get(member)?.shown !== 'present') return null
    const { name = member.user.name, status, kind: given, data } = connected.fields
    const kind = member.user.kind ?? given
    return {
      id: member.user.id,
      name,
      ...(status !== undefined && { status }),
      ...(kind !== undefined && { kind }),
      ...(data !== undefined && { data }),
    }
  }

  /**
   * Checks the limits for virtual users.
   * @throws ApiError FAILED_PRECONDITION, RESOURCE_EXHAUSTED if adding these users would exceed a limit
   */
  checkCapacity(users: readonly PresenceInput[]): void {
    const newIds = users
      .map(({ userId }) => userId)
      .filter((userId) => !this.#isConnected(userId) && this.#virtualUsers?.get(userId) === undefined)
    this.#virtualUserList().checkCapacity(new Set(newIds).size)
  }

  /**
   * Adds users. A user without a socket becomes a virtual user for `ttlMs` milliseconds. A user with sockets
   * whom REST has deleted becomes visible again, on all sockets.
   * @throws ApiError as for `checkCapacity`; nothing is changed then
   */
  add(users: readonly PresenceInput[], ttlMs: number): void {
    this.checkCapacity(users)
    this.#applyRest('add', users, ttlMs)
  }

  /**
   * Changes the fields of the given users who are present, and returns the number of these users. The time
   * limit of a virtual user starts again.
   */
  update(users: readonly PresenceInput[]): number {
    const known = users.filter(({ userId }) => this.#hasEntry(userId))
    this.#applyRest('update', known)
    return known.length
  }

  /** Removes users with their writers. Returns the number of the given users who were present. */
  delete(userIds: readonly string[]): number {
    const here = new Set(userIds.filter((userId) => this.find(userId) !== null))
    const writers = [...here].flatMap((userId) => this.#shownAs(userId)).map(({ userId }) => userId)
    const deleted = new Set([...here].filter((userId) => this.#hasEntry(userId)).concat(writers))
    this.#applyRest(
      'delete',
      [...deleted].map((userId) => ({ userId })),
    )
    return here.size
  }

  /**
   * Shows a writer with a caret, until `end` of the result. A user can have several writers, and can also be present
   * with a socket or by REST. Nothing is shown if the limits for virtual users are reached.
   */
  showWriter(writer: NewWriter): ShownWriter {
    if (!this.#virtualUserList().hasRoom) return { move: () => {}, end: () => {} }
    const { userId: writerOf, name, kind, data, color } = writer
    const caret = new WriterCaret(
      writer,
      this.#clock,
      (userId, fields) => {
        if (this.#virtualUsers?.get(userId) === undefined) return false
        this.#applyRest('update', [{ ...fields, userId }])
        return true
      },
      (userId) => {
        if (this.#virtualUsers?.get(userId) !== undefined) this.#applyRest('delete', [{ userId }])
      },
    )
    const fields = { name, kind, data, color, writerOf, cursor: caret.cursor }
    this.#applyRest('add', [{ ...fields, userId: caret.userId }], writerTtlMs)
    return caret
  }

  /** Removes all virtual users. */
  clearVirtualUsers(): void {
    const userIds = [...(this.#virtualUsers?.all() ?? [])].map(({ userId }) => userId)
    if (this.replica.isOpen)
      this.#applyRest(
        'delete',
        userIds.map((userId) => ({ userId })),
      )
    this.#virtualUsers?.remove(userIds)
  }

  /** Returns the entries of all users on the document, in arbitrary order. */
  entries(): readonly PresenceEntry[] {
    const userIds = new Set(this.#connected.keys())
    for (const userId of this.replica.remote.userIds()) userIds.add(userId)
    const found = new Map<string, PresenceEntry>()
    for (const userId of userIds) {
      const entry = this.#connectedEntry(userId)
      if (entry !== null) found.set(userId, entry)
    }
    for (const virtualUser of this.#virtualUsersOnly()) {
      const entry = virtualUserEntry(virtualUser)
      const known = found.get(entry.userId)
      found.set(entry.userId, known === undefined ? entry : joinEntries(known, entry))
    }
    return [...found.values()]
  }

  /** Returns the entry of one user; null if the user is not present. */
  find(userId: string): PresenceEntry | null {
    const own = this.#isConnected(userId) ? this.#connectedEntry(userId) : null
    const entries = this.#shownAs(userId).map(virtualUserEntry)
    const all = own === null ? entries : [own, ...entries]
    return all.length === 0 ? null : all.reduce(joinEntries)
  }

  userRecord(userId: string): NodeUserRecord | null {
    const connected = this.#connected.get(userId)
    return connected === undefined ? null : socketUserOf(connected)
  }

  clientRecord(editorId: string, clientId: number): ClientRecord | null {
    for (const observer of this.#observers)
      if (observer.editorId === editorId) return observer.clientRecord(clientId)
    return null
  }

  *records(): Iterable<NodeUserRecord | ClientRecord> {
    for (const connected of this.#connected.values()) {
      const record = socketUserOf(connected)
      if (record !== null) yield record
    }
    for (const observer of this.#observers)
      for (const clientId of observer.clientIds()) {
        const record = observer.clientRecord(clientId)
        if (record !== null) yield record
      }
  }

  /** Applies changed states of other nodes to the users and rooms of this node. */
  remoteChanged({ userIds, clients }: RemoteChanges): void {
    for (const userId of userIds) this.#reconcile(userId)
    for (const observer of this.#observers) {
      const clientIds = clients.get(observer.editorId)
      if (clientIds !== undefined) observer.refreshRemote(clientIds)
    }
  }

  closed(): void {
    this.#emptied()
  }

  #connectedEntry(userId: string): PresenceEntry | null {
    const here = this.userRecord(userId)
    return entryOf([...(here === null ? [] : [here]), ...this.#users.userRecords(userId)])
  }

  #newConnection(userId: string, fields: RestPresence = {}): ConnectedUser<Socket> {
    const since = this.replica.logicalClock.next()
    const elsewhere = this.#users.remoteFields(userId)
    const fieldsAt = Object.keys(fields).length > 0 ? since : 0
    return { sockets: new Map(), fields, fieldsAt, since, ...elsewhere }
  }

  #virtualUserList(): VirtualUserList {
    this.#virtualUsers ??= new VirtualUserList({
      clock: this.#clock,
      total: this.#total,
      changed: (states, timing) => this.#showVirtualUsers(states, timing),
      joined: (virtualUser) => {
        const visitor = visitorOf(virtualUser)
        if (!this.#isShown(visitor.user.userId, virtualUser)) this.#visits.joined(this.document, visitor)
      },
      left: (virtualUser) => {
        const visitor = visitorOf(virtualUser)
        if (!this.#isShown(visitor.user.userId)) this.#visits.left(this.document, visitor)
      },
    })
    return this.#virtualUsers
  }

  /** Returns the virtual users that other users see under this id. */
  #shownAs(userId: string): readonly VirtualUser[] {
    return this.#virtualUsers?.shownAs(userId) ?? []
  }

  /** Returns the virtual users, the users before their writers. */
  #virtualUsersOnly(): readonly VirtualUser[] {
    const all = [...(this.#virtualUsers?.all() ?? [])]
    const isWriter = ({ fields }: VirtualUser): boolean => fields.writerOf !== undefined
    return [...all.filter((each) => !isWriter(each)), ...all.filter(isWriter)]
  }

  /**
   * Returns whether a user is present on this node: with a socket, by REST or as a writer.
   * @param except a virtual user that does not count
   */
  #isShown(userId: string, except?: VirtualUser): boolean {
    const connected = this.#connected.get(userId)
    if (connected !== undefined && isPresent(connected)) return true
    return this.#shownAs(userId).some((each) => each.userId !== except?.userId)
  }

  /** Returns whether a user is present in another way than only as a writer. */
  #hasEntry(userId: string): boolean {
    if (this.#isConnected(userId)) return this.#connectedEntry(userId) !== null
    return this.#virtualUsers?.get(userId) !== undefined
  }

  /** Returns whether the user has a socket on any node, even if REST has deleted the user. */
  #isConnected(userId: string): boolean {
    return this.#connected.has(userId) || this.#users.isRemote(userId)
  }

  /**
   * Writes one record for each user of a REST call. Every node applies these records, including this node.
   */
  #applyRest(kind: 'add' | 'update' | 'delete', users: readonly PresenceInput[], ttlMs?: number): void {
    for (const { userId, ...fields } of users) {
      const virtualUser = this.#virtualUsers?.get(userId)
      const known = this.#connected.get(userId) ?? virtualUser
      const timeMs = this.#isConnected(userId) ? 0 : (ttlMs ?? virtualUser?.ttlMs ?? 0)
      this.#users.applyRest(kind, { userId, fields, before: known?.fields, ttlMs: timeMs })
      this.#reconcile(userId)
    }
  }

  /** Applies the records of all nodes to the sockets of one user, and to its virtual user. */
  #reconcile(userId: string): void {
    const connected = this.#connected.get(userId)
    if (connected !== undefined) this.#reconcileConnected(userId, connected)
    const fields = this.#users.virtualUser(userId, connected !== undefined)
    if (fields === null) this.#virtualUsers?.remove([userId])
    else if (fields !== 'unknown') this.#virtualUserList().set(userId, fields.fields, fields)
  }

  #reconcileConnected(userId: string, connected: ConnectedUser<Socket>): void {
    const before = visitorInSockets(connected)
    if (!this.#users.reconcile(userId, connected)) return
    const after = visitorInSockets(connected)
    if (this.#shownAs(userId).length === 0) {
      if (before !== null && after === null) this.#visits.left(this.document, before)
      if (before === null && after !== null) this.#visits.joined(this.document, after)
    }
    for (const observer of this.#observers) observer.refresh(new Set([userId]))
    this.replica.userChanged(userId)
  }

  #showVirtualUsers(states: readonly VirtualUserState[], timing: BroadcastTiming): void {
    for (const observer of this.#observers) for (const state of states) observer.setVirtualUser(state, timing)
    this.#emptied()
  }
}
