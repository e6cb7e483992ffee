import type { Clock } from '../../base/clock.ts'
import {
  type AwarenessEntry,
  type AwarenessText,
  removedText,
  writeAwareness,
  writeAwarenessMessages,
} from '../../update/awareness.ts'
import type { DocumentPresence, PresenceObserver, PublishedUser } from '../presence/document-presence.ts'
import { type BroadcastTiming, isVirtualClient, type VirtualUserState } from '../presence/virtual-users.ts'
import type { FrameEncoder, Member } from '../updates/change.ts'
import type { RoomTrace } from '../updates/room-trace.ts'
import {
  AwarenessTombstones,
  ClientState,
  PublishedState,
  userOfState,
  withTokenIdentity,
} from './client-state.ts'

/**
 * Maximum number of clients whose states a room shows. Further clients stay connected, and are shown when
 * other clients have left.
 */
export const statesMax = 5_000
/**
 * Maximum number by which the clock of a state may exceed the last known clock of its client. States with a
 * higher clock are dropped: after a jump to almost the maximum value, the client could not publish any
 * further states.
 */
const clockJumpMax = 2 ** 20
/**
 * Milliseconds after the opening of a room with content during which each client counts as one that comes back:
 * after a restart of the server, clients remember states that the room does not know.
 */
const reopenedMs = 60_000
/**
 * Milliseconds after which a renewed state is sent to all members again. A renewal postpones the client's own
 * one, which comes 15 to 18 s later, and stock clients remove a state after 30 s.
 */
const resendMs = 9_000
/**
 * Maximum number of states in a room in which the server asks clients that do not send renewed states back for
 * their states. They answer with all states that they have.
 */
const queriedStatesMax = 50
/**
 * Minimum milliseconds between two requests for a current state to one member, because one message may repeat many
 * states. Stock clients also renew their states without a request, after 15 s.
 */
const requestMs = 1_000

/** A new state of a client that has not been sent to the members yet. */
interface StateChange {
  /** Its text is built only when it is sent. */
  readonly state: Pick<AwarenessText, 'clock' | 'text'>
  /**
   * The member that published the state. Null if the server set the state: then the client itself must also
   * receive it.
   */
  readonly author: Member | null
}

interface RoomAwarenessOptions {
  readonly members: ReadonlySet<Member>
  readonly presence: DocumentPresence
  readonly editorId: string
  readonly clock: Clock
  /** Length of the broadcast window: minimum milliseconds between two broadcasts. */
  readonly windowMs: number
  /** Returns whether the editor has content. */
  readonly hasContent: () => boolean
  /**
   * Called when the state of a client is not shown because the room already shows the maximum number of
   * clients.
   */
  readonly refused: () => void
  readonly trace?: RoomTrace | undefined
}

/**
 * The awareness states of one room. Each member has at most one client id. The state of the client contains
 * the identity that the presence of the document gives the member. Virtual users are also shown.
 * `presence/README.md` lists the events.
 *
 * Clients choose the clocks of their states, so that all connections of a client agree on the newest state.
 * The server sets a clock only if a backend changes the state of a client.
 *
 * The first broadcast is sent at the end of the tick, and later ones at most once per window. Each broadcast contains
 * only the last state of each client. A change by a backend does not wait for the end of the window; all waiting
 * changes are then sent with it.
 */
export class RoomAwareness implements PresenceObserver {
  readonly editorId: string
  readonly #options: RoomAwarenessOptions
  readonly #trace: RoomTrace | undefined
  readonly #published = new Map<number, PublishedState>()
  /** The clients of the members by client id, including clients that are not shown. */
  readonly #clients = new Map<number, ClientState>()
  readonly #clientOf = new Map<Member, number>()
  readonly #tombstones = new AwarenessTombstones()
  readonly #openedAt: number
  /** The changes of the next broadcast, by client id. */
  readonly #changed = new Map<number, StateChange>()
  #lastBroadcast = 0
  #planned: { readonly timing: BroadcastTiming; readonly cancel: () => void } | null = null
  /** Time of the last request for a current state to each member, in epoch milliseconds. */
  readonly #requestedAt = new WeakMap<Member, number>()
  /**
   * The members that have come back since the last broadcast, each with whether the room may not know their last
   * clocks.
   */
  readonly #returned = new Map<Member, boolean>()

  constructor(options: RoomAwarenessOptions) {
    this.#options = options
    this.#trace = options.trace
    this.editorId = options.editorId
    this.#openedAt = options.clock.now()
    options.presence.addObserver(this)
  }

  join(member: Member): void {
    this.#options.presence.addSocket(member, this)
  }

  /**
   * Returns whether a state that `member` sends for a client must be parsed. Most states that a member sends
   * belong to other clients, and the member only sends them back.
   */
  concerns(member: Member, clientId: number): boolean {
    const own = this.#clientOf.get(member)
    if (own !== undefined) return own === clientId
    const userId = this.#clients.get(clientId)?.member.user.id
    return userId === undefined || userId === member.user.id
  }

  /**
   * Applies the entries that `member` sends for its own client. Entries for other clients are dropped,
   * because clients send back all states that they receive.
   */
  receive(member: Member, entries: readonly AwarenessEntry[]): void {
    for (const entry of entries) {
      const client = this.#clientFor(member, entry)
      if (client !== null) this.#take(client, entry)
    }
    this.#schedule('window')
  }

  /** Removes the state of `member` immediately. */
  leave(member: Member): void {
    this.#options.presence.removeSocket(member)
    this.#returned.delete(member)
    const clientId = this.#clientOf.get(member)
    if (clientId === undefined) return
    this.#clientOf.delete(member)
    this.#clients.delete(clientId)
    this.#hide(clientId)
    this.#schedule('window')
  }

  refresh(userIds: ReadonlySet<string>): void {
    for (const [clientId, client] of this.#clients) {
      if (!userIds.has(client.member.user.id) || client.state === null) continue
      const user = this.#options.presence.userOf(client.member)
      if (user === null) this.#hideForBackend(clientId, client)
      else if (this.#published.get(clientId)?.text !== withTokenIdentity(client.state, user))
        this.#publishForBackend(clientId, client, user)
    }
    this.#schedule('tick')
  }

  setVirtualUser(virtual: VirtualUserState, timing: BroadcastTiming): void {
    const { clientId, textIn, userId } = virtual
    // Renewed states have a higher clock than the virtual user.
    const clock = Math.max(virtual.clock, (this.#shownClock(clientId) ?? -1) + 1)
    if (textIn === null) this.#remove(clientId, clock, userId, null)
    else {
      const state = this.#stateOf(clock, userId, () => textIn(this.editorId))
      // A writer that moves in another editor has the same state here.
      if (timing === 'window' && this.#published.get(clientId)?.text === state.text) return
      this.#publish(clientId, state, null)
    }
    this.#schedule(timing)
  }

  /** Returns awareness messages that contain all states of the room. */
  all(): readonly Uint8Array[] {
    return writeAwarenessMessages(this.#states())
  }

  /**
   * Returns awareness messages that contain all states of the room and the latest removals, for a client that
   * has missed messages.
   */
  allAndTombstones(): readonly Uint8Array[] {
    return writeAwarenessMessages([...this.#states(), ...this.#tombstones.texts()])
  }

  /** Removes the room from the presence of the document. Must be called when the room is closed. */
  close(): void {
    this.#options.presence.removeObserver(this)
    this.#planned?.cancel()
    this.#planned = null
  }

  #states(): AwarenessText[] {
    return [...this.#published].map(([clientId, { clock, text }]) => ({ clientId, clock, text }))
  }

  /**
   * Returns the client to which an entry of `member` belongs; null if the entry must be dropped.
   *
   * A member owns the first client id that it announces. A client id that another connection owns is only
   * passed on to a connection of the same user, and only with a newer state. This is the case of a client
   * that reconnects before its half-open connection has ended. An older state may come from another tab of
   * the user that only repeats it, so it does not change the owner.
   */
  #clientFor(member: Member, { clientId, clock, state }: AwarenessEntry): ClientState | null {
    const own = this.#clientOf.get(member)
    const last = this.#shownClock(clientId) ?? this.#clients.get(clientId)?.clock
    if (own !== undefined) {
      const counts = own === clientId && !isJump(last, clock)
      return counts ? (this.#clients.get(clientId) ?? null) : null
    }
    if (state === null || isVirtualClient(clientId) || isJump(last, clock)) return null
    const owner = this.#clients.get(clientId)
    const userId = owner?.member.user.id ?? this.#tombstones.get(clientId)?.userId
    if (userId !== undefined && userId !== member.user.id) return null
    if (last !== undefined && clock <= last) {
      if (!this.#published.has(clientId)) this.#requestCurrent(member, clientId, last)
      return null
    }
    if (owner === undefined && (this.#clients.size >= statesMax || !this.#canShow(clientId))) {
      this.#options.refused()
      return null
    }
    const isKnown = owner !== undefined || this.#tombstones.get(clientId) !== undefined
    if (isKnown || this.#isReopened) this.#returned.set(member, !isKnown)
    if (owner !== undefined) this.#clientOf.delete(owner.member)
    const client = new ClientState(member, clock)
    this.#clients.set(clientId, client)
    this.#clientOf.set(member, clientId)
    return client
  }

  get #isReopened(): boolean {
    const { clock, hasContent } = this.#options
    return hasContent() && clock.now() - this.#openedAt < reopenedMs
  }

  /** Returns the clock of the last state or removal of a client that the room has shown. */
  #shownClock(clientId: number): number | undefined {
    return this.#published.get(clientId)?.clock ?? this.#tombstones.get(clientId)?.clock
  }

  #take(client: ClientState, { clientId, clock, state }: AwarenessEntry): void {
    if (clock < client.clock) return
    const { presence } = this.#options
    const { member } = client
    if (state === null) {
      client.clear(clock)
      presence.observe(member, undefined)
      return this.#hide(clientId, clock, member)
    }
    presence.observe(member, userOfState(state).status)
    const kind = client.take(clock, state)
    const user = presence.userOf(member)
    if (user === null) return
    if (kind === 'change') this.#publishChange(clientId, client, user)
    else if (this.#hasMissed(clientId, clock, state)) this.#publishForBackend(clientId, client, user)
  }

  /**
   * Returns whether the room shows a state of the client that differs from `state` and that the client
   * ignores, because its own clock is at least as high.
   */
  #hasMissed(clientId: number, clock: number, state: object): boolean {
    const published = this.#published.get(clientId)
    return published !== undefined && published.clock <= clock && published.text !== JSON.stringify(state)
  }

  /**
   * Publishes a state with the client's clock. If the room has already shown a state with this or a later
   * clock, or if the status differs from the one in the presence, publishes it with a higher clock instead,
   * so that the client also accepts it.
   */
  #publishChange(clientId: number, client: ClientState, user: PublishedUser): void {
    const { clock, state, member } = client
    if (state === null) return
    const isLate = (this.#shownClock(clientId) ?? -1) >= clock
    const hasStatus = user.status === undefined || userOfState(state).status === user.status
    if (!isLate && hasStatus) {
      const text = (): string => withTokenIdentity(state, user)
      return this.#publish(clientId, this.#stateOf(clock, user.id, text), member)
    }
    const isSame = hasStatus && this.#published.get(clientId)?.text === withTokenIdentity(state, user)
    if (!isSame) this.#publishForBackend(clientId, client, user)
  }

  /**
   * Publishes a state that the client does not have yet. The state gets a higher clock than all earlier
   * states of the client.
   */
  #publishForBackend(clientId: number, client: ClientState, user: PublishedUser): void {
    if (client.state === null) return
    const clock = Math.max(this.#shownClock(clientId) ?? -1, client.clock) + 1
    const text = withTokenIdentity(client.state, user)
    client.addServerState(clock, text)
    this.#publish(clientId, this.#stateOf(clock, user.id, text), null)
  }

  #stateOf(clock: number, userId: string, text: string | (() => string)): PublishedState {
    return new PublishedState(clock, userId, text, this.#options.clock.now())
  }

  /**
   * Sends all states with higher clocks to the members that have come back. In y-protocols, a client that
   * loses its connection removes the states of others but remembers their clocks, and ignores states that are
   * not newer. Otherwise it would see clients that do not move only after their renewal, 15 s later.
   *
   * The clients of the states also get the new clocks, so that their next states are newer. The other members
   * get them only if their states would become outdated otherwise. States that have just changed are new for
   * all, except in a room that may not know the last clocks.
   */
  #renewForReturned(): void {
    if (this.#returned.size === 0) return
    const now = this.#options.clock.now()
    for (const [clientId, { sentAt }] of this.#published) {
      const owner = this.#clients.get(clientId)?.member
      const isNew = this.#changed.has(clientId)
      if (!isNew) this.#renew(clientId, now - sentAt >= resendMs, now)
      else if (owner !== undefined && this.#returned.get(owner) === true) this.#renew(clientId, true, now)
    }
    const messages = this.all()
    for (const member of this.#returned.keys())
      for (const message of messages) member.deliverAwareness(member.encoder.awareness(message), false)
    this.#returned.clear()
  }

  /**
   * Gives a state the next clock, unless its client has not confirmed the last one yet. With a clock that is
   * higher by two, the state could undo a change that the client has made meanwhile.
   */
  #renew(clientId: number, forAll: boolean, now: number): void {
    const published = this.#published.get(clientId)
    const client = this.#clients.get(clientId)
    if (published === undefined || (client !== undefined && published.clock > client.clock)) return
    const state = published.renewed(forAll ? now : undefined)
    this.#published.set(clientId, state)
    if (client !== undefined) {
      const { member, ownText: text } = client
      const { encoder } = member
      const message = writeAwareness([{ clientId, clock: state.clock, text }])
      member.deliverAwareness(encoder.awareness(message), false)
      if (!encoder.answersRemoval && this.#published.size <= queriedStatesMax)
        member.deliverAwareness(encoder.awarenessQuery, false)
    }
    if (forAll) this.#changed.set(clientId, { state, author: null })
  }

  #hideForBackend(clientId: number, client: ClientState): void {
    const published = this.#published.get(clientId)
    if (published === undefined) return
    client.addServerState(published.clock + 1, null)
    this.#hide(clientId, published.clock + 1)
  }

  /**
   * Returns whether the limit for shown clients permits showing this client. A client that is already shown
   * may stay, and virtual users have a separate limit.
   */
  #canShow(clientId: number): boolean {
    return this.#published.size < statesMax || this.#published.has(clientId) || isVirtualClient(clientId)
  }

  #publish(clientId: number, state: PublishedState, author: Member | null): void {
    if (!this.#canShow(clientId)) return this.#options.refused()
    this.#tombstones.delete(clientId)
    this.#published.set(clientId, state)
    if (this.#trace !== undefined) this.#traceState('presence_set', clientId, state)
    this.#changed.set(clientId, { state, author })
  }

  /**
   * Removes the state of a client. If `clock` is not higher, the removal has the clock of the state, as in
   * y-protocols. When the client returns, its next state then has a higher clock.
   */
  #hide(clientId: number, clock = 0, author: Member | null = null): void {
    const published = this.#published.get(clientId)
    if (published === undefined) return
    this.#remove(clientId, Math.max(published.clock, clock), published.userId, author)
  }

  #remove(clientId: number, clock: number, userId: string, author: Member | null): void {
    this.#published.delete(clientId)
    if (this.#trace !== undefined) this.#traceState('presence_removed', clientId, { clock, userId })
    this.#changed.set(clientId, { state: { clock, text: removedText }, author })
    this.#tombstones.add(clientId, { clock, userId })
  }

  /**
   * Schedules a broadcast, unless nothing has changed. A broadcast that is planned for the end of the tick is not
   * postponed.
   */
  #schedule(timing: BroadcastTiming): void {
    const planned = this.#planned
    if (this.#changed.size === 0 || planned?.timing === 'tick' || planned?.timing === timing) return
    planned?.cancel()
    const { clock, windowMs } = this.#options
    const sinceMs = clock.now() - this.#lastBroadcast
    // `sinceMs` is negative if the system clock was set back; the wait must not get longer then.
    const waitMs = timing === 'tick' || sinceMs >= windowMs ? 0 : windowMs - Math.max(0, sinceMs)
    this.#planned = { timing, cancel: clock.after(waitMs, () => this.#broadcast()) }
  }

  #broadcast(): void {
    this.#planned = null
    this.#lastBroadcast = this.#options.clock.now()
    this.#renewForReturned()
    const changed = [...this.#changed]
    this.#changed.clear()
    // Null if several members or the server have published the states.
    const onlyAuthor = changed.length === 1 ? (changed[0]?.[1].author ?? null) : null
    const texts = changed.map(
      ([
        clientId,
        {
          state: { clock, text },
        },
      ]) => ({ clientId, clock, text }),
    )
    for (const message of writeAwarenessMessages(texts)) {
      const frames = new Map<FrameEncoder, Uint8Array>()
      for (const member of this.#options.members) {
        const frame = frames.get(member.encoder) ?? member.encoder.awareness(message)
        frames.set(member.encoder, frame)
        member.deliverAwareness(frame, member === onlyAuthor)
      }
    }
  }

  /**
   * Requests the current state of a returning client, unless the last request was less than `requestMs` ago: `member`
   * has sent an old state of a client that the room no longer shows, and may be this client. In y-protocols, a client
   * replies to its own removal with its current state and a clock that is higher by one. A connection that only repeats
   * the state of another client does not reply. The server does not invent a clock for a returning client, because the
   * state may have changed in the meantime.
   * @param clock the last clock of the client that other members have received
   */
  #requestCurrent(member: Member, clientId: number, clock: number): void {
    const now = this.#options.clock.now()
    const sinceMs = now - (this.#requestedAt.get(member) ?? Number.NEGATIVE_INFINITY)
    // `sinceMs` is negative if the system clock was set back.
    if (sinceMs >= 0 && sinceMs < requestMs) return
    this.#requestedAt.set(member, now)
    const { encoder } = member
    const removal = writeAwareness([{ clientId, clock, text: removedText }])
    member.deliverAwareness(encoder.awareness(removal), false)
    if (!encoder.answersRemoval) member.deliverAwareness(encoder.awarenessQuery, false)
  }

  #traceState(
    step: 'presence_set' | 'presence_removed',
    clientId: number,
    { clock, userId }: Pick<PublishedState, 'clock' | 'userId'>,
  ): void {
    this.#trace?.of(userId)?.(step, { userId, clientId, clock })
  }
}

/** Returns whether a clock exceeds the last known clock by more than `clockJumpMax`. */
const isJump = (last: number | undefined, clock: number): boolean =>
  last !== undefined && clock > last + clockJumpMax
