import type { Clock } from '../clock.ts'
import type { Member } from './room/member.ts'

/** Who sees too little is told for so long what others say anew: by then those who were asked have answered. */
const helpedMs = 5_000
/** Client ids kept, in all, for those who have not answered. Of more, who came first waits for the others' own renewals. */
const greetedMax = 1_000_000

/**
 * Who has come back and does not see others. Stock clients that lose their connection remove the states of all others,
 * but remember their clocks, and ignore what they are told under these. What they do take over they tell back, by
 * themselves or when they are asked: what they have not told back when they answer what was said later they do not see.
 */
export class Unseen {
  readonly #clock: Clock
  /** Clients that members were told of since they came, and have not told back. */
  readonly #greetings = new Map<Member, Set<number>>()
  #greetedCount = 0
  readonly #helpedUntil = new Map<Member, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Nobody ever takes over a state under clock 0. */
  greet(member: Member, shown: ReadonlyMap<number, { readonly clock: number }>): void {
    const told = new Set<number>()
    for (const [clientId, { clock }] of shown) if (clock > 0) told.add(clientId)
    this.#forgetGreeting(member)
    this.#greetings.set(member, told)
    this.#greetedCount += told.size
    for (const oldest of this.#greetings.keys()) {
      if (this.#greetedCount <= greetedMax) return
      this.#forgetGreeting(oldest)
    }
  }

  /** Those who have been greeted, and have not answered, are told of these, too. */
  cameUp(clientIds: readonly number[]): void {
    for (const told of this.#greetings.values()) {
      const before = told.size
      for (const clientId of clientIds) told.add(clientId)
      this.#greetedCount += told.size - before
    }
  }

  toldBack(member: Member, clientId: number): void {
    if (this.#greetings.get(member)?.delete(clientId) === true) this.#greetedCount -= 1
  }

  /** The member has answered; null: it had before. */
  answered(member: Member): ReadonlySet<number> | null {
    const unseen = this.#greetings.get(member) ?? null
    this.#forgetGreeting(member)
    return unseen
  }

  help(member: Member): void {
    this.#helpedUntil.set(member, this.#clock.now() + helpedMs)
  }

  /** Members that see too little. */
  helped(): readonly Member[] {
    const now = this.#clock.now()
    for (const [member, until] of this.#helpedUntil) if (until <= now) this.#helpedUntil.delete(member)
    return [...this.#helpedUntil.keys()]
  }

  forget(member: Member): void {
    this.#forgetGreeting(member)
    this.#helpedUntil.delete(member)
  }

  #forgetGreeting(member: Member): void {
    this.#greetedCount -= this.#greetings.get(member)?.size ?? 0
    this.#greetings.delete(member)
  }
}
