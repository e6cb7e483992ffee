import type { Clock } from '../../clock.ts'
import { isVirtualClient } from '../presence/virtual-users.ts'
import { type RenewableState, Renewals } from '../renewals.ts'
import type { Member } from '../room/member.ts'
import { Unseen } from '../unseen.ts'
import type { PublishedState } from './published-state.ts'

/** A state that everybody was told so recently, and that is the same under a later clock, is news to few. */
const knownMs = 5_000
/**
 * So long after a room was opened who comes may have seen those who are there before, at another node or before we were
 * started, and they it: we don't know. Whoever has been away for longer has renewed what it shows itself, twice, as
 * y-protocols does after 15 to 18 s: once would make its clock that of the farewell that others have heard. A page that
 * was suspended has not; it may be seen with its next renewal only.
 */
const youngMs = 40_000

interface AwarenessResyncOptions {
  readonly clock: Clock
  readonly windowMs: number
  /** What the room shows. */
  readonly shown: ReadonlyMap<number, PublishedState>
  readonly clientOf: (member: Member) => number | undefined
  /** A client that somebody here shows. */
  readonly find: (clientId: number) => RenewableState | null
  readonly renewGuests: (clientIds: readonly number[]) => void
  /** Of some of these clients other nodes know. */
  readonly renewElsewhere: (clientIds: readonly number[]) => void
}

/**
 * Sees to it that who comes back sees everybody again, and is seen: clients ignore what they are told under clocks that
 * they have heard of before, though they have forgotten what was shown then.
 */
export class AwarenessResync {
  readonly #parts: AwarenessResyncOptions
  readonly #openedAt: number
  readonly #unseen: Unseen
  readonly #renewals: Renewals

  constructor(parts: AwarenessResyncOptions) {
    this.#parts = parts
    this.#openedAt = parts.clock.now()
    this.#unseen = new Unseen(parts.clock)
    this.#renewals = new Renewals({
      ...parts,
      isKnown: (clientId) => this.knownSince(clientId, parts.shown.get(clientId)?.text ?? '') !== undefined,
      count: () => parts.shown.size,
    })
  }

  /** A member comes, and is told what is shown. */
  greet(member: Member): void {
    this.#unseen.greet(member, this.#parts.shown)
  }

  toldBack(member: Member, clientId: number): void {
    this.#unseen.toldBack(member, clientId)
  }

  /**
   * A member has answered something that it was told after it was greeted. Those whom it does not see renew what they
   * show; where nobody knows whether they see it, it does, too.
   * @param wasHere it had something of the document when it came
   */
  answered(member: Member, wasHere: boolean): void {
    const unseen = this.#unseen.answered(member)
    if (unseen === null || (unseen.size === 0 && !(wasHere && this.#isYoung))) return
    this.#unseen.help(member)
    this.renew(unseen)
    this.#parts.renewGuests([...unseen].filter(isVirtualClient))
    this.#parts.renewElsewhere([...unseen])
    const own = this.#parts.clientOf(member)
    if (this.#isYoung && own !== undefined) this.renew([own])
  }

  /** Has those of the clients renew what they show that are here. */
  renew(clientIds: Iterable<number>): void {
    for (const clientId of clientIds) if (this.#parts.find(clientId) !== null) this.#renewals.want(clientId)
  }

  /** Of clients of other nodes a room hears late that was opened for who is back. */
  cameUp(clientIds: readonly number[]): void {
    if (!this.#isYoung || clientIds.length === 0) return
    this.#unseen.cameUp(clientIds)
    if (this.#unseen.helped().length > 0) this.#parts.renewElsewhere(clientIds)
  }

  /** Is what a client says the renewal that was asked for? */
  isRenewal(clientId: number, clock: number): boolean {
    return this.#renewals.answered(clientId, clock)
  }

  /** When everybody was told this of a client, under whatever clock; undefined if not a moment ago. */
  knownSince(clientId: number, text: string): number | undefined {
    const shown = this.#parts.shown.get(clientId)
    if (shown === undefined || this.#isYoung) return undefined
    const agoMs = this.#parts.clock.now() - shown.toldAt
    // Less than none: the clock has been set back.
    const isKnown = agoMs >= 0 && agoMs < knownMs && shown.text === text
    return isKnown ? shown.toldAt : undefined
  }

  /** Those who are told also what the others know. */
  helped(): readonly Member[] {
    return this.#unseen.helped()
  }

  /** A member has left. */
  left(member: Member): void {
    this.#unseen.forget(member)
  }

  /** A client is shown no more. */
  gone(clientId: number): void {
    this.#renewals.forget(clientId)
  }

  close(): void {
    this.#renewals.close()
  }

  get #isYoung(): boolean {
    return this.#parts.clock.now() < this.#openedAt + youngMs
  }
}
