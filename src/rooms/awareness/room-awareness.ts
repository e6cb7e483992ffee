import type { Clock } from '../../clock.ts'
import {
  type AwarenessEntry,
  type AwarenessText,
  removedText,
  type ShowsWhat,
  writeAwarenessMessages,
} from '../../update/awareness.ts'
import { Doubted } from '../doubted.ts'
import type { DocumentPresence, PresenceObserver, PublishedUser } from '../presence/document-presence.ts'
import { type ClientNotice, RemoteClients } from '../presence/remote-clients.ts'
import { isVirtualClient, type VirtualUserState } from '../presence/virtual-users.ts'
import type { RenewableState } from '../renewals.ts'
import type { Member } from '../room/member.ts'
import { AwarenessBroadcaster } from './awareness-broadcaster.ts'
import { AwarenessResync } from './awareness-resync.ts'
import { AwarenessTombstones } from './awareness-tombstones.ts'
import { ClientState, userOfState } from './client-state.ts'
import { PublishedState, withTokenIdentity } from './published-state.ts'

/** Clients whose states a room shows: those who come later are members, and seen when others have gone. */
export const statesMax = 5_000
/** How far a clock may run ahead at once: one that jumped near its end would silence its client. */
const clockJumpMax = 2 ** 20
/** `renewal`: what everybody may know already. */
type ShowKind = 'news' | 'renewal'

interface RoomAwarenessOptions {
  readonly members: ReadonlySet<Member>
  /** Of the document. */
  readonly presence: DocumentPresence
  readonly editorId: string
  readonly clock: Clock
  /** Shortest time between two messages. */
  readonly windowMs: number
  /** A client's state is not shown because there are too many. */
  readonly refused: () => void
}

/**
 * Who shows what in one room: the y-protocols awareness states of its members, at most one client id a member, with
 * what the presence board of the document says of them; and the users there who have no socket.
 * Changes go out at the end of the turn, then at most once a window: a cursor dragged at 100 Hz costs the others
 * 25 messages a second. What a backend says never waits for the window, and takes along what does.
 */
export class RoomAwareness implements PresenceObserver {
  readonly editorId: string
  readonly #parts: RoomAwarenessOptions
  readonly #shown = new Map<number, PublishedState>()
  /** What clients say, also those that are not shown. */
  readonly #said = new Map<number, ClientState>()
  readonly #clientOf = new Map<Member, number>()
  readonly #ownerOf = new Map<number, Member>()
  /** When each came, as members came and clients went. */
  readonly #cameAt = new Map<Member, number>()
  #turn = 0
  readonly #departed = new AwarenessTombstones()
  /** Those of other nodes; null without any. */
  readonly #foreign: RemoteClients | null
  readonly #doubted = new Doubted()
  readonly #telling: AwarenessBroadcaster
  readonly #returning: AwarenessResync

  constructor(parts: RoomAwarenessOptions) {
    this.#parts = parts
    this.editorId = parts.editorId
    this.#returning = new AwarenessResync({
      ...parts,
      shown: this.#shown,
      clientOf: (member) => this.#clientOf.get(member),
      find: (clientId) => this.#renewable(clientId),
      renewGuests: (clientIds) => parts.presence.renewGuests(clientIds),
      renewElsewhere: (clientIds) => this.#renewElsewhere(clientIds),
    })
    this.#telling = new AwarenessBroadcaster({
      ...parts,
      some: () => this.#returning.helped(),
      telling: (clientIds) => this.#tellForeign(clientIds),
      told: (states) => this.#doubted.ask(goneIn(states)),
    })
    const { desk } = parts.presence
    this.#foreign = desk === null ? null : new RemoteClients(desk, parts.editorId)
    parts.presence.enter(this)
    if (this.#foreign !== null) this.showForeign(this.#foreign.ids())
  }

  join(member: Member): void {
    this.#cameAt.set(member, ++this.#turn)
    this.#parts.presence.join(member, this)
  }

  /** What somebody is told who comes: messages with all states. */
  greet(member: Member): readonly Uint8Array[] {
    this.#returning.greet(member)
    return this.all()
  }

  /** As `Returning.answered`. */
  answered(member: Member, wasHere: boolean): void {
    this.#returning.answered(member, wasHere)
  }

  renew(clientIds: Iterable<number>): void {
    this.#returning.renew(clientIds)
  }

  /** Is what `member` says of a client of any interest? Most of it is told back of others. */
  concerns(member: Member, clientId: number, shows: ShowsWhat = 'something'): boolean {
    if (shows === 'something') this.#returning.toldBack(member, clientId)
    const own = this.#clientOf.get(member)
    if (own !== undefined) return own === clientId
    const userId = this.#ownerOf.get(clientId)?.user.id ?? this.#foreign?.get(clientId)?.userId
    return userId === undefined || userId === member.user.id
  }

  /** Takes what `member` says. Entries about other clients are dropped: clients echo what they have heard. */
  receive(member: Member, entries: readonly AwarenessEntry[]): void {
    for (const entry of entries) if (this.#owns(member, entry)) this.#hear(member, entry)
    this.#telling.schedule('window')
  }

  /** Removes what `member` showed, at once. */
  leave(member: Member): void {
    this.#cameAt.delete(member)
    this.#doubted.forget(member)
    this.#returning.left(member)
    this.#parts.presence.leave(member)
    const client = this.#clientOf.get(member)
    this.#clientOf.delete(member)
    if (client === undefined || this.#ownerOf.get(client) !== member) return
    this.#disown(client)
    this.#hide(client)
    this.showForeign([client])
    this.#telling.schedule('window')
  }

  refresh(userIds: ReadonlySet<string>): void {
    for (const [clientId, said] of this.#said) {
      if (!userIds.has(said.member.user.id)) continue
      const user = this.#parts.presence.userOf(said.member)
      if (user === null) this.#hideMadeUp(clientId, said)
      else if (this.#shown.get(clientId)?.text !== withTokenIdentity(said.state, user))
        this.#showMadeUp(clientId, said, user)
    }
    this.#telling.schedule('turn')
  }

  showGuest({ clientId, clock, text, userId }: VirtualUserState): void {
    if (text === removedText) this.#remove(clientId, clock, userId, null)
    else this.#show(clientId, new PublishedState(clock, userId, text), null, 'renewal')
    this.#telling.schedule('turn')
  }

  /** Other nodes say something else of these clients. */
  showForeign(clientIds: Iterable<number>): void {
    const foreign = this.#foreign
    if (foreign === null) return
    const cameUp = [...clientIds].filter((clientId) => {
      const wasShown = this.#shown.has(clientId)
      this.#judge(foreign, clientId)
      return !wasShown
    })
    this.#returning.cameUp(cameUp)
    this.#telling.schedule('window')
  }

  /** Messages with all states. */
  all(): readonly Uint8Array[] {
    return writeAwarenessMessages(this.#states())
  }

  /** The same for somebody who has missed messages: also what is shown no more. */
  allAndDeparted(): readonly Uint8Array[] {
    return writeAwarenessMessages([...this.#states(), ...this.#departed.texts()])
  }

  /** The room is over, for everybody. */
  close(): void {
    this.#parts.presence.exit(this)
    this.#foreign?.close()
    this.#telling.close()
    this.#returning.close()
  }

  #states(): AwarenessText[] {
    return [...this.#shown].map(([clientId, { clock, text }]) => ({ clientId, clock, text }))
  }

  /**
   * The first client id a member announces is its own for good. A known id passes over only to the same user: a
   * client that reconnects before its half-open socket was noticed, and says something new. What was said before is
   * told back by another tab of that user, too.
   */
  #owns(member: Member, { clientId, clock, state }: AwarenessEntry): boolean {
    const own = this.#clientOf.get(member)
    if (own !== undefined) return own === clientId && clock <= this.#lastClock(clientId) + clockJumpMax
    if (state === null || isVirtualClient(clientId)) return false
    const owner = this.#ownerOf.get(clientId)
    const foreign = this.#foreign?.get(clientId)
    const userId = owner?.user.id ?? foreign?.userId ?? this.#departed.get(clientId)?.userId ?? member.user.id
    if (userId !== member.user.id) return false
    const isNews =
      foreign === undefined
        ? clock > this.#lastClock(clientId) || !this.#isTold(member, clientId)
        : this.#foreign?.isItself(clientId, clock, state)
    if (isNews !== true) {
      this.#doubted.note(member, clientId, !this.#shown.has(clientId))
      return false
    }
    if (owner === undefined && this.#ownerOf.size >= statesMax) {
      this.#parts.refused()
      return false
    }
    if (owner !== undefined) this.#clientOf.delete(owner)
    this.#doubted.forget(member)
    this.#clientOf.set(member, clientId)
    this.#ownerOf.set(clientId, member)
    this.#foreign?.took(clientId)
    return true
  }

  #disown(clientId: number): void {
    this.#ownerOf.delete(clientId)
    this.#said.delete(clientId)
    this.#foreign?.left(clientId)
  }

  /** Who loses a client id to a node has to take it anew. Clocks are those of this node: they only grow. */
  #judge(foreign: RemoteClients, clientId: number): void {
    const owner = this.#ownerOf.get(clientId)
    const verdict = foreign.judge(clientId, owner?.user.id ?? null)
    if (verdict.whose === 'unchanged') return
    if (verdict.whose !== 'theirs') {
      if (foreign.get(clientId) === undefined) return this.#raise(clientId)
      foreign.forget(clientId)
      return this.#hide(clientId)
    }
    const { record } = verdict
    if (owner !== undefined) {
      this.#clientOf.delete(owner)
      this.#disown(clientId)
    }
    if (this.#shown.size >= statesMax && !this.#shown.has(clientId)) return this.#parts.refused()
    const clock = Math.max(record.clock, (this.#clockShown(clientId) ?? -1) + 1)
    const told = this.#told(foreign, clientId)
    this.#show(clientId, new PublishedState(clock, record.userId, record.text), null, 'renewal')
    foreign.shows(record, clock, told)
  }

  /** What clients here may still tell back of a client: also of one that was ours a moment ago. */
  #told(foreign: RemoteClients, clientId: number): ClientNotice {
    const shown = this.#shown.get(clientId)
    if (foreign.get(clientId) !== undefined || shown === undefined) return foreign.toldOf(clientId)
    return [{ clock: shown.clock, text: shown.text }]
  }

  /** May the member have heard what was said of a client? Of one that had gone before it came it has not. */
  #isTold(member: Member, clientId: number): boolean {
    if (this.#shown.has(clientId)) return true
    const departed = this.#departed.get(clientId)
    return departed !== undefined && (this.#cameAt.get(member) ?? 0) < departed.turn
  }

  /** Other nodes have told of a client of ours under a later clock than it has. */
  #raise(clientId: number): void {
    const [said, shown] = [this.#said.get(clientId), this.#shown.get(clientId)]
    if (said === undefined || shown === undefined || shown.clock >= this.#floor(clientId)) return
    const user = this.#parts.presence.userOf(said.member)
    if (user !== null) this.#showMadeUp(clientId, said, user)
  }

  #floor(clientId: number): number {
    return this.#foreign?.floor(clientId) ?? -1
  }

  /** Without one, any: a client that has been editing for long has a clock of its own. */
  #lastClock(clientId: number): number {
    return this.#clockShown(clientId) ?? this.#said.get(clientId)?.clock ?? Number.POSITIVE_INFINITY
  }

  #clockShown(clientId: number): number | undefined {
    return this.#shown.get(clientId)?.clock ?? this.#departed.get(clientId)?.clock
  }

  #hear(member: Member, { clientId, clock, state }: AwarenessEntry): void {
    const known = this.#said.get(clientId)
    const before = known?.member === member ? known : undefined
    if (before !== undefined && clock < before.clock) return
    if (state === null) {
      this.#said.delete(clientId)
      this.#parts.presence.heard(member, undefined)
      return this.#hide(clientId, clock, member)
    }
    this.#parts.presence.heard(member, userOfState(state).status)
    const said = before ?? new ClientState(member, clock, state)
    this.#said.set(clientId, said)
    const kind = before?.take(clock, state) ?? 'news'
    const isRenewal = this.#returning.isRenewal(clientId, clock)
    const user = this.#parts.presence.userOf(member)
    if (user === null) return
    if (kind === 'news') this.#showSaid(clientId, said, user, isRenewal ? 'renewal' : 'news')
    else if (this.#hasMissed(clientId, clock, state)) this.#showMadeUp(clientId, said, user)
  }

  /** Is another state shown of a client, and will it not take that over, because its own clock is as late? */
  #hasMissed(clientId: number, clock: number, state: ClientState['state']): boolean {
    const shown = this.#shown.get(clientId)
    return shown !== undefined && shown.clock <= clock && shown.text !== JSON.stringify(state)
  }

  /**
   * What was said before again changes nothing. What REST says, and the client doesn't, it is told too. Of who is back
   * under a clock at which others were told that it has gone nothing is made up: it may have moved on, and would take
   * that for its own.
   */
  #showSaid(clientId: number, said: ClientState, user: PublishedUser, kind: ShowKind): void {
    const { clock, state, member } = said
    const told = Math.max(this.#clockShown(clientId) ?? -1, this.#floor(clientId))
    const isLate = told >= clock
    if (isLate && !this.#shown.has(clientId) && said.askAnew(clientId, told)) return
    const knows = user.status === undefined || userOfState(state).status === user.status
    if (knows && isLate && this.#shown.get(clientId)?.text === withTokenIdentity(state, user)) return
    if (isLate || !knows) return this.#showMadeUp(clientId, said, user)
    this.#show(
      clientId,
      new PublishedState(clock, user.id, () => withTokenIdentity(state, user)),
      member,
      kind,
    )
  }

  /** Shows what the client does not know of, with a clock that is later than all. */
  #showMadeUp(clientId: number, said: ClientState, user: PublishedUser): void {
    const clock = Math.max(this.#clockShown(clientId) ?? -1, said.clock, this.#floor(clientId)) + 1
    const text = withTokenIdentity(said.state, user)
    said.madeUp(clock, text)
    this.#show(clientId, new PublishedState(clock, user.id, text), null)
  }

  #hideMadeUp(clientId: number, said: ClientState): void {
    const shown = this.#shown.get(clientId)
    if (shown === undefined || this.#foreign?.get(clientId) !== undefined) return
    said.madeUp(shown.clock + 1, null)
    this.#hide(clientId)
  }

  #show(clientId: number, shown: PublishedState, knownTo: Member | null, kind: ShowKind = 'news'): void {
    const knownSince = kind === 'renewal' ? this.#returning.knownSince(clientId, shown.text) : undefined
    shown.toldAt = knownSince ?? this.#parts.clock.now()
    this.#foreign?.forget(clientId)
    this.#departed.delete(clientId)
    this.#shown.set(clientId, shown)
    this.#telling.note(clientId, { state: shown, knownTo, to: knownSince === undefined ? 'all' : 'some' })
  }

  #renewable(clientId: number): RenewableState | null {
    const [said, shown] = [this.#said.get(clientId), this.#shown.get(clientId)]
    if (said === undefined || shown === undefined) return null
    return { member: said.member, clock: Math.max(shown.clock, said.clock, this.#floor(clientId)) }
  }

  #renewElsewhere(clientIds: readonly number[]): void {
    const foreign = clientIds.filter((clientId) => this.#foreign?.get(clientId) !== undefined)
    if (foreign.length > 0) this.#parts.presence.renewElsewhere(this.editorId, foreign)
  }

  /** @param clock that of the client's own farewell, which is known to it */
  #hide(clientId: number, clock?: number, knownTo: Member | null = null): void {
    const shown = this.#shown.get(clientId)
    if (shown === undefined || this.#foreign?.get(clientId) !== undefined) return
    this.#remove(clientId, Math.max(shown.clock, clock ?? shown.clock + 1), shown.userId, knownTo)
  }

  #remove(clientId: number, clock: number, userId: string, knownTo: Member | null): void {
    this.#shown.delete(clientId)
    this.#returning.gone(clientId)
    this.#telling.note(clientId, { state: { clock, text: removedText }, knownTo, to: 'all' })
    this.#departed.add(clientId, { clock, userId, turn: ++this.#turn })
  }

  #tellForeign(clientIds: readonly number[]): void {
    if (this.#foreign === null) return
    for (const clientId of clientIds) {
      if (isVirtualClient(clientId)) continue
      const isOurs = this.#ownerOf.has(clientId) && this.#foreign.get(clientId) === undefined
      this.#foreign.tell(clientId, isOurs ? (this.#shown.get(clientId) ?? null) : null)
    }
  }
}

const goneIn = (states: readonly AwarenessText[]): ReadonlySet<number> =>
  new Set(states.flatMap(({ clientId, text }) => (text === removedText ? clientId : [])))
