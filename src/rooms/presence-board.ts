import type { Clock } from '../clock.ts'
import type { VisitNotes, Visitor } from '../events/visits.ts'
import type { DocumentScope } from '../model/address.ts'
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

interface Parts {
  readonly document: DocumentScope
  readonly clock: Clock
  readonly total: GuestCount
  /** Is told who comes and goes. */
  readonly visits: VisitNotes
  /** There may be nobody left. */
  readonly emptied: () => void
}

/**
 * Who is on one document: those with a socket in any of its rooms, and those whom REST names. Somebody is either of
 * both; who comes with a socket is no guest any more, and is gone with the last one.
 */
export class PresenceBoard {
  readonly #parts: Parts
  readonly #views = new Set<PresenceView>()
  readonly #connected = new Map<string, Connected>()
  /** Made for the first of them: most documents never have any. */
  #guests: Guests | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get document(): DocumentScope {
    return this.#parts.document
  }

  /** Neither users nor rooms: a new board would be the same. */
  get empty(): boolean {
    return this.#views.size === 0 && (this.#guests === null || this.#guests.size === 0)
  }

  enter(view: PresenceView): void {
    this.#views.add(view)
    for (const state of this.#guests?.states() ?? []) view.showGuest(state)
  }

  /** A room is closed, and its sockets with it. */
  exit(view: PresenceView): void {
    this.#views.delete(view)
    for (const { sockets } of this.#connected.values())
      for (const [member, socket] of sockets) if (socket.view === view) this.leave(member)
    this.#parts.emptied()
  }

  join(member: Member, view: PresenceView): void {
    const { id } = member.user
    const guest = this.#guests?.get(id)
    const connected = this.#connected.get(id) ?? { sockets: new Map(), said: guest?.said ?? {} }
    const isNews = guest === undefined && !isPresent(connected)
    this.#connected.set(id, connected)
    connected.sockets.set(member, {
      view,
      shown: 'present',
      lastSeen: this.#parts.clock.now(),
      status: undefined,
    })
    if (guest !== undefined) this.#guests?.remove([id])
    if (isNews) this.#came(id)
  }

  /** What REST has said of a user ends with the last socket. */
  leave(member: Member): void {
    const connected = this.#connected.get(member.user.id)
    if (connected === undefined) return
    const visitor = visitorIn(connected)
    connected.sockets.delete(member)
    if (connected.sockets.size === 0) this.#connected.delete(member.user.id)
    if (isPresent(connected)) return
    connected.said = {}
    if (visitor !== null) this.#parts.visits.went(this.#parts.document, visitor)
  }

  /** A sign of life. `status` is what the client says of its user. */
  heard(member: Member, status: unknown): void {
    const socket = this.#connected.get(member.user.id)?.sockets.get(member)
    if (socket === undefined) return
    socket.lastSeen = this.#parts.clock.now()
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
   * Says of users that they are here: those without a socket for `ttlMs`. Who was deleted is back, on every socket.
   * @throws ApiError FAILED_PRECONDITION, RESOURCE_EXHAUSTED when these are too many; then nothing is changed
   */
  add(users: readonly PresenceInput[], ttlMs: number): void {
    const guests = users.filter(({ userId }) => !this.#connected.has(userId))
    const newIds = guests
      .map(({ userId }) => userId)
      .filter((userId) => this.#guests?.get(userId) === undefined)
    this.#withGuests().checkRoomFor(new Set(newIds).size)
    const away = users.map(({ userId }) => userId).filter((userId) => this.#isDeleted(userId))
    for (const { userId } of users)
      for (const socket of this.#connected.get(userId)?.sockets.values() ?? []) socket.shown = 'present'
    this.#say(users, ttlMs)
    for (const userId of new Set(away)) this.#came(userId)
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
      const visitor = visitorIn(connected)
      connected.said = {}
      for (const socket of connected.sockets.values()) socket.shown = 'deleted'
      if (visitor !== null) this.#parts.visits.went(this.#parts.document, visitor)
    }
    this.#refresh(here)
    this.#guests?.remove(here)
    return here.size
  }

  /** Takes away all who have no socket. */
  clearGuests(): void {
    this.#guests?.remove([...this.#guests.all()].map(({ userId }) => userId))
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
    const guest = this.#guests?.get(userId)
    return guest === undefined ? null : guestEntry(guest)
  }

  #withGuests(): Guests {
    const { clock, total, visits, document } = this.#parts
    this.#guests ??= new Guests({
      clock,
      total,
      changed: (states) => this.#showGuests(states),
      came: (guest) => visits.came(document, visitorOf(guest)),
      went: (guest) => {
        if (!this.#connected.has(guest.userId)) visits.went(document, visitorOf(guest))
      },
    })
    return this.#guests
  }

  #guestEntries(): readonly PresenceEntry[] {
    return [...(this.#guests?.all() ?? [])].map(guestEntry)
  }

  #isHere(userId: string): boolean {
    const connected = this.#connected.get(userId)
    if (connected !== undefined) return isPresent(connected)
    return this.#guests?.get(userId) !== undefined
  }

  #isDeleted(userId: string): boolean {
    const connected = this.#connected.get(userId)
    return connected !== undefined && !isPresent(connected)
  }

  #came(userId: string): void {
    const connected = this.#connected.get(userId)
    const visitor = connected === undefined ? null : visitorIn(connected)
    if (visitor !== null) this.#parts.visits.came(this.#parts.document, visitor)
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
    if (guests.size > 0) this.#withGuests().put(guests, ttlMs)
  }

  #refresh(userIds: ReadonlySet<string>): void {
    if (userIds.size > 0) for (const view of this.#views) view.refresh(userIds)
  }

  #showGuests(states: readonly GuestState[]): void {
    for (const view of this.#views) for (const state of states) view.showGuest(state)
    this.#parts.emptied()
  }
}

/** Not by their number: a user may have very many. */
function visitorIn({ sockets, said }: Connected): Visitor | null {
  for (const [{ user }, { shown }] of sockets) {
    if (shown !== 'present') continue
    return visitorOf(
      { userId: user.id, said: merged({ name: user.name, email: user.email }, said) },
      'socket',
    )
  }
  return null
}

const isPresent = (connected: Connected): boolean => visitorIn(connected) !== null

function visitorOf(
  { userId, said: { name, email } }: Pick<Guest, 'userId' | 'said'>,
  source: Visitor['source'] = 'rest',
): Visitor {
  const user = { userId, ...(name && { name }), ...(email && { email }) }
  return { user, source }
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
