/** Something with work left for the end of the event-loop turn. */
export interface TurnTaker {
  turn(): void
}

/** Something with work left that nobody waits for. */
export interface Follower {
  followUp(): void
}

/**
 * Runs everyone's work once at the end of an event-loop turn: what all sockets delivered in the turn is then
 * one transaction, one commit and one write per receiver.
 */
export class Turns {
  #waiting: TurnTaker[] = []
  readonly #following = new Set<Follower>()

  /** The caller sees to it that it adds itself once a turn. */
  add(taker: TurnTaker): void {
    this.#waiting.push(taker)
    if (this.#waiting.length === 1) setImmediate(this.#run)
  }

  /** Has it called once, when what is being sent now is on its way. */
  follow(follower: Follower): void {
    this.#following.add(follower)
    if (this.#following.size === 1) setImmediate(this.#followUp)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const taker of waiting) taker.turn()
  }

  readonly #followUp = (): void => {
    const following = [...this.#following]
    this.#following.clear()
    for (const follower of following) follower.followUp()
  }
}
