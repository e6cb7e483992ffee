import type { Clock } from '../../clock.ts'
import { removedText, writeAwareness } from '../../update/awareness.ts'
import type { Member } from '../room/member.ts'

/** Shortest time between two requests to one member. Stock clients renew their states by themselves after 15 s. */
const requestMs = 1_000

/**
 * Checks whether a member is a client that the room no longer shows: sends it the removal of that client's state. In
 * y-protocols a client answers its own removal with its present state, one clock later. A connection that only repeats
 * the state of another client does not answer. So the server does not trust a repeated state. It also does not invent a
 * clock for a client that returns, because its state may have changed meanwhile.
 *
 * One message may repeat many states, so a member gets at most one request in `requestMs`.
 */
export class RenewalRequests {
  readonly #clock: Clock
  /** Epoch milliseconds of the last request. */
  readonly #requestedAt = new WeakMap<Member, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param clock the last clock that others have received */
  request(member: Member, clientId: number, clock: number): void {
    const now = this.#clock.now()
    const sinceMs = now - (this.#requestedAt.get(member) ?? Number.NEGATIVE_INFINITY)
    // If the system clock is set back, the time is negative.
    if (sinceMs >= 0 && sinceMs < requestMs) return
    this.#requestedAt.set(member, now)
    const { encoder } = member
    const removal = writeAwareness([{ clientId, clock, text: removedText }])
    member.deliverAwareness(encoder.awareness(removal), false)
    if (!encoder.answersRemoval) member.deliverAwareness(encoder.awarenessQuery, false)
  }
}
