import type { Clock } from '../../base/clock.ts'
import type { VisitListener } from '../../events/visit-tracker.ts'
import type { DocumentScope } from '../../model/address.ts'
import type { Member } from '../updates/change.ts'
import {
  type ConnectedUser,
  connectedEntry,
  isPresent,
  joinEntries,
  type PresenceEntry,
  type UserSocket,
  virtualUserEntry,
  visitorInSockets,
  visitorOf,
} from './presence-entry.ts'
import { mergeFields, type PresenceKind, type RestPresence } from './rest-presence.ts'
import {
  type BroadcastTiming,
  type NewWriter,
  type ShownWriter,
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
}

interface Socket extends UserSocket {
  readonly observer: PresenceObserver
}

/**
 * The users of one document: users with a socket in any room of the document, and virtual users, whom REST
 * has added. A user cannot be both. When the user of a virtual user connects, the virtual user ends. From
 * then on, the user is present until its last socket closes.
 */
export class DocumentPresence {
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

  constructor(
    document: DocumentScope,
    clock: Clock,
    total: VirtualUserCount,
    visits: VisitListener,
    emptied: () => void,
  ) {
    this.document = document
    this.#clock = clock
    this.#total = total
    this.#visits = visits
    this.#emptied = emptied
  }

  /**
   * True if there are no users and no rooms. The object can then be deleted, because a new object would have
   * the same state.
   */
  get isEmpty(): boolean {
    return this.#observers.size === 0 && (this.#virtualUsers?.size ?? 0) === 0
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
    const fields = virtualUser?.fields ?? {}
    const connected = this.#connected.get(id) ?? { sockets: new Map<Member, Socket>(), fields }
    const isNewUser = !this.#isShown(id)
    this.#connected.set(id, connected)
    connected.sockets.set(member, {
      observer,
      editorId: observer.editorId,
      shown: 'present',
      lastSeen: this.#clock.now(),
      status: undefined,
    })
    if (virtualUser !== undefined) this.#virtualUsers?.remove([id])
    const visitor = isNewUser ? visitorInSockets(connected) : null
    if (visitor !== null) this.#visits.joined(this.document, visitor)
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
    if (isPresent(connected)) return
    connected.fields = {}
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
    socket.status = typeof status === 'string' && status.length <= statusLengthMax ? status : undefined
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
      .filter((userId) => !this.#connected.has(userId) && this.#virtualUsers?.get(userId) === undefined)
    this.#virtualUserList().checkCapacity(new Set(newIds).size)
  }

  /**
   * Adds users. A user without a socket becomes a virtual user for `ttlMs` milliseconds. A user with sockets
   * whom REST has deleted becomes visible again, on all sockets.
   * @throws ApiError as for `checkCapacity`; nothing is changed then
   */
  add(users: readonly PresenceInput[], ttlMs: number): void {
    this.checkCapacity(users)
    for (const { userId, ...fields } of users)
      if (!this.#connected.has(userId)) this.#virtualUserList().set(userId, fields, ttlMs)
    this.#changeConnected(users, (connected, fields) => {
      connected.fields = mergeFields(connected.fields, fields)
      for (const socket of connected.sockets.values()) socket.shown = 'present'
    })
  }

  /**
   * Changes the fields of the given users who are present, and returns the number of these users. The time
   * limit of a virtual user starts again.
   */
  update(users: readonly PresenceInput[]): number {
    const known = users.filter(({ userId }) => this.#hasEntry(userId))
    for (const { userId, ...fields } of known)
      if (!this.#connected.has(userId)) this.#virtualUserList().set(userId, fields)
    this.#changeConnected(known, (connected, fields) => {
      connected.fields = mergeFields(connected.fields, fields)
    })
    return known.length
  }

  /**
   * Removes users with their writers. The sockets of a user are hidden until REST adds the user again. Returns
   * the number of the given users who were present.
   */
  delete(userIds: readonly string[]): number {
    const here = [...new Set(userIds)].filter((userId) => this.find(userId) !== null)
    this.#virtualUsers?.remove(here.flatMap((userId) => this.#shownAs(userId)).map(({ userId }) => userId))
    this.#changeConnected(
      here.map((userId) => ({ userId })),
      (connected) => {
        connected.fields = {}
        for (const socket of connected.sockets.values()) socket.shown = 'deleted'
      },
    )
    return here.length
  }

  /** Shows a writer until `end` of the result. */
  showWriter(writer: NewWriter): ShownWriter {
    return this.#virtualUserList().showWriter(writer)
  }

  /** Removes all virtual users. */
  clearVirtualUsers(): void {
    this.#virtualUsers?.remove([...this.#virtualUsers.all()].map(({ userId }) => userId))
  }

  /** Returns the entries of all users on the document, in arbitrary order. */
  entries(): readonly PresenceEntry[] {
    const found = new Map<string, PresenceEntry>()
    for (const [userId, connected] of this.#connected) {
      const entry = connectedEntry(connected)
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
    const connected = this.#connected.get(userId)
    const own = connected === undefined ? null : connectedEntry(connected)
    const entries = this.#shownAs(userId).map(virtualUserEntry)
    const all = own === null ? entries : [own, ...entries]
    return all.length === 0 ? null : all.reduce(joinEntries)
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
   * Returns whether a user is present: with a socket, by REST or as a writer.
   * @param except a virtual user that does not count
   */
  #isShown(userId: string, except?: VirtualUser): boolean {
    const connected = this.#connected.get(userId)
    if (connected !== undefined && isPresent(connected)) return true
    return this.#shownAs(userId).some((each) => each.userId !== except?.userId)
  }

  /** Returns whether a user is present in another way than only as a writer. */
  #hasEntry(userId: string): boolean {
    const connected = this.#connected.get(userId)
    return connected === undefined ? this.#virtualUsers?.get(userId) !== undefined : isPresent(connected)
  }

  /** Changes those of the given users who have sockets, even if REST has deleted them. */
  #changeConnected(
    users: readonly PresenceInput[],
    change: (connected: ConnectedUser, fields: RestPresence) => void,
  ): void {
    const changed = new Set<string>()
    for (const { userId, ...fields } of users) {
      const connected = this.#connected.get(userId)
      if (connected === undefined) continue
      changed.add(userId)
      const before = visitorInSockets(connected)
      change(connected, fields)
      const after = visitorInSockets(connected)
      if (this.#shownAs(userId).length > 0) continue
      if (before !== null && after === null) this.#visits.left(this.document, before)
      if (before === null && after !== null) this.#visits.joined(this.document, after)
    }
    if (changed.size > 0) for (const observer of this.#observers) observer.refresh(changed)
  }

  #showVirtualUsers(states: readonly VirtualUserState[], timing: BroadcastTiming): void {
    for (const observer of this.#observers) for (const state of states) observer.setVirtualUser(state, timing)
    this.#emptied()
  }
}
