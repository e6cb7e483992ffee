import { createHash } from 'node:crypto'
import { isJsonObject } from '../../base/json.ts'
import { type AwarenessEntry, type AwarenessText, removedText } from '../../update/awareness.ts'
import type { PublishedUser } from '../presence/document-presence.ts'
import type { Member } from '../updates/change.ts'

/**
 * Maximum number of states set by the server that `ClientState` recognizes when the client sends them back.
 * Older ones then count as changes of the client.
 */
const serverStatesMax = 32

type State = NonNullable<AwarenessEntry['state']>

/**
 * The state that one client publishes. If the server changes this state, the changed state gets a higher
 * clock than the client has, so that all clients accept it, including the client itself. The client then
 * sends the changed state back. This class distinguishes such an echo from a change by the client.
 */
export class ClientState {
  readonly member: Member
  clock: number
  /** The current state; null if the client shows no state. */
  state: State | null = null
  /** JSON of the last state that the server has set and that the client has not changed since; otherwise null. */
  #serverText: string | null = null
  /** Digests of the states that the server has set for the client, by clock; null for a removal. */
  readonly #serverStates = new Map<number, string | null>()

  constructor(member: Member, clock: number) {
    this.member = member
    this.clock = clock
  }

  /**
   * Applies the next state that the client has sent. `clock` must not be lower than the last one. Returns
   * whether the state is a change by the client or an echo of a state that the server has set.
   */
  take(clock: number, state: State): 'change' | 'echo' {
    this.clock = clock
    const isEcho = this.#isEcho(clock, state)
    // A client sends its replies in order, so no reply to an earlier server state can follow.
    for (const sent of this.#serverStates.keys()) if (sent < clock - 1) this.#serverStates.delete(sent)
    if (isEcho) return 'echo'
    this.state = state
    this.#serverText = null
    return 'change'
  }

  clear(clock: number): void {
    this.clock = clock
    this.state = null
    this.#serverText = null
    this.#serverStates.clear()
  }

  /**
   * Records a state that the server sets for the client; `text` is null for a removal. The client receives it
   * as its own state.
   */
  addServerState(clock: number, text: string | null): void {
    this.#serverText = text
    this.#serverStates.set(clock, text === null ? null : digestOf(text))
    if (this.#serverStates.size <= serverStatesMax) return
    for (const oldest of this.#serverStates.keys()) return void this.#serverStates.delete(oldest)
  }

  /** JSON of the state that the client has itself. */
  get ownText(): string {
    return this.#serverText ?? JSON.stringify(this.state)
  }

  /**
   * Returns whether a state that the client sends is an echo of a state that the server has set. After a
   * removal, a client sends its current state with a clock that is higher by one.
   */
  #isEcho(clock: number, state: State): boolean {
    if (this.#serverStates.size === 0) return false
    const digest = digestOf(JSON.stringify(state))
    if (this.#serverStates.get(clock) === digest) return true
    return this.#serverStates.get(clock - 1) === null && [...this.#serverStates.values()].includes(digest)
  }
}

/** Returns a digest of the text of a state. It replaces the text, which may be long, in comparisons. */
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Returns the member `user` of a state; an empty object if it is not an object. */
export function userOfState(state: State): Readonly<Record<string, unknown>> {
  const claimed = Object.hasOwn(state, 'user') ? state.user : undefined
  return isJsonObject(claimed) ? claimed : {}
}

/**
 * The state of a client as the room shows it to its members. The text is built only when it is first read,
 * because only the last state in a broadcast window is sent.
 */
export class PublishedState {
  readonly clock: number
  readonly userId: string
  /** Time of the last broadcast to all members, in milliseconds of the caller's clock. */
  readonly sentAt: number
  #text: string | (() => string)

  /** @param sentAt see `sentAt` */
  constructor(clock: number, userId: string, text: string | (() => string), sentAt: number) {
    this.clock = clock
    this.userId = userId
    this.#text = text
    this.sentAt = sentAt
  }

  /** Returns the same state with the next clock. */
  renewed(sentAt = this.sentAt): PublishedState {
    return new PublishedState(this.clock + 1, this.userId, () => this.text, sentAt)
  }

  /** JSON of the state, with the identity of the user from the token. */
  get text(): string {
    if (typeof this.#text !== 'string') this.#text = this.#text()
    return this.#text
  }
}

/**
 * Returns the JSON of a state in which the identity from the token replaces the identity that the client
 * claims. The color and all other members stay as the client has published them.
 */
export function withTokenIdentity(state: Readonly<Record<string, unknown>>, user: PublishedUser): string {
  return JSON.stringify({ ...state, user: { ...userOfState(state), ...user } })
}

/** Maximum number of removed client ids that a room remembers. The oldest are dropped first. */
const tombstonesMax = 1_000
/**
 * Maximum number of removals that are sent to a client that has missed messages. The latest removals are
 * sent.
 */
const sentMax = 200

interface Tombstone {
  /** Clock of the removal: the last clock that the members have received for the client. */
  readonly clock: number
  readonly userId: string
}

/**
 * The clients that no longer have a state in the room. A tombstone keeps the last clock, because the members
 * ignore a new state of the client whose clock is not higher. It also keeps the user, because no other user
 * may use the client id.
 */
export class AwarenessTombstones {
  readonly #clients = new Map<number, Tombstone>()

  get(clientId: number): Tombstone | undefined {
    return this.#clients.get(clientId)
  }

  add(clientId: number, tombstone: Tombstone): void {
    this.#clients.delete(clientId)
    this.#clients.set(clientId, tombstone)
    if (this.#clients.size <= tombstonesMax) return
    for (const oldest of this.#clients.keys()) return void this.#clients.delete(oldest)
  }

  /** Removes the tombstone. Must be called when the client has a state again. */
  delete(clientId: number): void {
    this.#clients.delete(clientId)
  }

  /** Returns the latest removals (at most `sentMax`), for a client that may have missed them. */
  texts(): readonly AwarenessText[] {
    return [...this.#clients]
      .slice(-sentMax)
      .map(([clientId, { clock }]) => ({ clientId, clock, text: removedText }))
  }
}
