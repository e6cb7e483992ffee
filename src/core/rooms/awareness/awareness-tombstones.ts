import type { Clock } from '../../base/clock.ts'
import { type AwarenessText, removedText, writeAwareness } from '../../update/awareness.ts'
import type { Member } from '../updates/member.ts'

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

/**
 * Minimum milliseconds between two requests to one member. Stock clients also renew their states without a
 * request, after 15 s.
 */
const requestMs = 1_000

/**
 * Requests current states from returning clients. A member may send an old state of a client that the room no
 * longer shows. The member may be this client, so the server sends it a removal of the state.
 *
 * In y-protocols, a client replies to its own removal with its current state and a clock that is higher by
 * one. A connection that only repeats the state of another client does not reply. The room shows the client
 * only after such a reply. The server also does not invent a clock for a returning client, because the state
 * may have changed in the meantime.
 *
 * One message may repeat many states, so a member gets at most one request in `requestMs`.
 */
export class RenewalRequests {
  readonly #clock: Clock
  /** Time of the last request, in epoch milliseconds. */
  readonly #requestedAt = new WeakMap<Member, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Sends the removal of the client to the member, unless the last request was less than `requestMs` ago.
   * @param clock the last clock of the client that other members have received
   */
  request(member: Member, clientId: number, clock: number): void {
    const now = this.#clock.now()
    const sinceMs = now - (this.#requestedAt.get(member) ?? Number.NEGATIVE_INFINITY)
    // `sinceMs` is negative if the system clock was set back.
    if (sinceMs >= 0 && sinceMs < requestMs) return
    this.#requestedAt.set(member, now)
    const { encoder } = member
    const removal = writeAwareness([{ clientId, clock, text: removedText }])
    member.deliverAwareness(encoder.awareness(removal), false)
    if (!encoder.answersRemoval) member.deliverAwareness(encoder.awarenessQuery, false)
  }
}
