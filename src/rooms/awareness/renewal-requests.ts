import type { Clock } from '../../clock.ts'
import { removedText, writeAwareness } from '../../update/awareness.ts'
import type { Member } from '../room/member.ts'

/**
 * Minimum milliseconds between two requests to one member. Without a request, stock clients renew their
 * states after 15 s.
 */
const requestMs = 1_000

/**
 * Checks whether a member is a client that the room no longer shows, by sending the removal of that client's
 * state to the member. In y-protocols, a client replies to its own removal with its current state and a clock
 * that is higher by one. A connection that only repeats the state of another client does not reply. Therefore
 * the server does not accept a repeated state without this check. It also does not invent a clock for a
 * client that returns, because the state may have changed meanwhile.
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

  /** Sends the removal. @param clock the last clock of the client that other members have received */
  request(member: Member, clientId: number, clock: number): void {
    const now = this.#clock.now()
    const sinceMs = now - (this.#requestedAt.get(member) ?? Number.NEGATIVE_INFINITY)
    // The time is negative if the system clock was set back.
    if (sinceMs >= 0 && sinceMs < requestMs) return
    this.#requestedAt.set(member, now)
    const { encoder } = member
    const removal = writeAwareness([{ clientId, clock, text: removedText }])
    member.deliverAwareness(encoder.awareness(removal), false)
    if (!encoder.answersRemoval) member.deliverAwareness(encoder.awarenessQuery, false)
  }
}
