import type { Clock } from '../clock.ts'
import {
  defaultStatus,
  type Guest,
  type GuestCount,
  type GuestState,
  Guests,
  merged,
  type SaidByRest,
} from './guests.ts'
import type { Member } from './member.ts'

/** Longest status; what a client says of itself beyond it is not read. */
export const statusLengthMax = 200

export interface PresenceInput extends SaidByRest {
  readonly userId: string
}

/** Somebody who is on a document. */
export interface PresenceEntry {
  readonly userId: string
  /** '' when unknown, as the e-mail address. */
  readonly name: string
  readonly email: string
  readonly status: string
  /** `rest`: nobody has seen them but the backend that says so. */
  readonly source: 'socket' | 'rest'
  /** The editors that they have open, in order; none without a socket. */
  readonly editorIds: readonly string[]
  /** Epoch milliseconds: of the last sign of life from a socket, or by REST where there is none. */
  readonly lastSeen: number
}

/** What stands in a client's state about its user, whatever it says itself. */
export interface ShownUser {
  readonly id: string
  readonly name: string
  readonly status?: string
}

/** An open room of the document, which shows what the board says. */
export interface PresenceView {
  readonly editorId: string
  /** What is said of these users is something else now. */
  refresh(userIds: ReadonlySet<string>): void
  showGuest(state: GuestState): void
}

interface Socket {
  readonly view: PresenceView
  /** `deleted`: by REST; it stays away until the user comes back with another. */
  shown: 'present' | 'deleted'
  lastSeen: number
  /** What the client says of its user. */
  status: string | undefined
}

interface Connected {
  readonly sockets: Map<Member, Socket>
  said: SaidByRest
}

/**
 * Who is on one document: those with a socket in any of its rooms, and those whom REST names. Somebody is either of
 * both; who comes with a socket is no guest any more, and is gone with the last one.
 */
export class PresenceBoard {
  readonly #clock: Clock
  readonly #views = new Set<PresenceView>()
  readonly #connected = new Map<string, Connected>()
  readonly #guests: Guests
  readonly #emptied: () => void

  /** @param emptied called when there may be nobody left */
  constructor(clock: Clock, total: GuestCount, emptied: () => void) {
    this.#clock = clock
    this.#emptied = emptied
    this.#guests = new Guests({ clock, total, changed: (states) => this.#showGuests(states) })
  }

  /** Neither users nor rooms: a new board would be the same. */
  get empty(): boolean {
    return this.#views.size === 0 && this.#guests.size === 0
  }

  enter(view: PresenceView): void {
    this.#views.add(view)
    for (const state of this.#guests.states()) view.showGuest(state)
  }

  /** A room is closed, and its sockets with it. */
  exit(view: PresenceView): void {
    this.#views.delete(view)
    for (const { sockets } of this.#connected.values())
      for (const [member, socket] of sockets) if (socket.view === view) this.leave(member)
    this.#emptied()
  }

  join(member: Member, view: PresenceView): void {
    const { id } = member.user
    const guest = this.#guests.get(id)
    const connected = this.#connected.get(id) ?? { sockets: new Map(), said: guest?.said ?? {} }
    this.#connected.set(id, connected)
    connected.sockets.set(member, { view, shown: 'present', lastSeen: this.#clock.now(), status: undefined })
    if (guest !== undefined) this.#guests.remove([id])
  }

  /** What REST has said of a user ends with the last socket. */
  leave(member: Member): void {
    const connected = this.#connected.get(member.user.id)
    if (connected === undefined) return
    connected.sockets.delete(member)
    if (connected.sockets.size === 0) this.#connected.delete(member.user.id)
    else if (presentSockets(connected).length === 0) connected.said = {}
  }

  /** A sign of life. `status` is what the client says of its user. */
  heard(member: Member, status: unknown): void {
    const socket = this.#connected.get(member.user.id)?.sockets.get(member)
    if (socket === undefined) return
    socket.lastSeen = this.#clock.now()
    socket.status = typeof status === 'string' && status.length <= statusLengthMax ? status : undefined
  }

  /** How the user of a member is shown; null: not at all. */
  userOf(member: Member): ShownUser | null {
    const connected = this.#connected.get(member.user.id)
    if (connected?.sockets.get(member)?.shown !== 'present') return null
    const { name = member.user.name, status } = connected.said
    return { id: member.user.id, name, ...(status !== undefined && { status }) }
  }

  /**
   * Says of users that they are here: those without a socket for `ttlMs`. Who was deleted is back.
   * @throws ApiError FAILED_PRECONDITION, RESOURCE_EXHAUSTED when these are too many; then nothing is changed
   */
  add(users: readonly PresenceInput[], ttlMs: number): void {
    const guests = users.filter(({ userId }) => !this.#connected.has(userId))
    const newIds = guests
      .map(({ userId }) => userId)
      .filter((userId) => this.#guests.get(userId) === undefined)
    this.#guests.checkRoomFor(new Set(newIds).size)
    for (const { userId } of users)
      for (const socket of this.#connected.get(userId)?.sockets.values() ?? []) socket.shown = 'present'
    this.#say(users, ttlMs)
  }

  /** Changes what is said of users who are here, and returns their number. A guest stays for its time from now. */
  update(users: readonly PresenceInput[]): number {
    const known = users.filter(({ userId }) => this.#isHere(userId))
    this.#say(known)
    return known.length
  }

  /** Takes away users, and returns the number of those who were here. */
  delete(userIds: readonly string[]): number {
    const here = new Set(userIds.filter((userId) => this.#isHere(userId)))
    for (const userId of here) {
      const connected = this.#connected.get(userId)
      if (connected === undefined) continue
      connected.said = {}
      for (const socket of connected.sockets.values()) socket.shown = 'deleted'
    }
    this.#refresh(here)
    this.#guests.remove(here)
    return here.size
  }

  /** Takes away all who have no socket. */
  clearGuests(): void {
    this.#guests.remove([...this.#guests.all()].map(({ userId }) => userId))
  }

  /** Everybody who is here, in no order. */
  entries(): readonly PresenceEntry[] {
    const connected = [...this.#connected.values()].flatMap((each) => entryOf(each) ?? [])
    return [...connected, ...this.#guestEntries()]
  }

  /** What is said of one user; null when the user is not here. */
  find(userId: string): PresenceEntry | null {
    const connected = this.#connected.get(userId)
    if (connected !== undefined) return entryOf(connected)
    const guest = this.#guests.get(userId)
    return guest === undefined ? null : guestEntry(guest)
  }

  #guestEntries(): readonly PresenceEntry[] {
    return [...this.#guests.all()].map(guestEntry)
  }

  #isHere(userId: string): boolean {
    const connected = this.#connected.get(userId)
    if (connected !== undefined) return presentSockets(connected).length > 0
    return this.#guests.get(userId) !== undefined
  }

  #say(users: readonly PresenceInput[], ttlMs?: number): void {
    const guests = new Map<string, SaidByRest>()
    const shown = new Set<string>()
    for (const { userId, ...said } of users) {
      const connected = this.#connected.get(userId)
      if (connected === undefined) guests.set(userId, merged(guests.get(userId) ?? {}, said))
      else {
        connected.said = merged(connected.said, said)
        shown.add(userId)
      }
    }
    this.#refresh(shown)
    this.#guests.put(guests, ttlMs)
  }

  #refresh(userIds: ReadonlySet<string>): void {
    if (userIds.size > 0) for (const view of this.#views) view.refresh(userIds)
  }

  #showGuests(states: readonly GuestState[]): void {
    for (const view of this.#views) for (const state of states) view.showGuest(state)
    this.#emptied()
  }
}

const presentSockets = ({ sockets }: Connected): readonly (readonly [Member, Socket])[] =>
  [...sockets].filter(([, { shown }]) => shown === 'present')

function guestEntry({ userId, said, lastSeen }: Guest): PresenceEntry {
  const { name = '', email = '', status = defaultStatus } = said
  return { userId, name, email, status, source: 'rest', editorIds: [], lastSeen }
}

/** Of several sockets the one heard of last says who the user is. Null when all have been deleted. */
function entryOf(connected: Connected): PresenceEntry | null {
  const sockets = presentSockets(connected).toSorted(([, a], [, b]) => b.lastSeen - a.lastSeen)
  const [latest] = sockets
  if (latest === undefined) return null
  const [{ user }, { lastSeen, status: own = defaultStatus }] = latest
  const { name = user.name, email = user.email, status = own } = connected.said
  const editorIds = [...new Set(sockets.map(([, { view }]) => view.editorId))].sort()
  return { userId: user.id, name, email, status, source: 'socket', editorIds, lastSeen }
}
