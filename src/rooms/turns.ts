/** Something with work left for the end of the event-loop turn. */
export interface TurnTaker {
  turn(): void
}

/**
 * Runs everyone's work once at the end of an event-loop turn: what all sockets delivered in the turn is then
 * one transaction, one commit and one write per receiver.
 */
export class Turns {
  #waiting: TurnTaker[] = []

  /** The caller sees to it that it adds itself once a turn. */
  add(taker: TurnTaker): void {
    this.#waiting.push(taker)
    if (this.#waiting.length === 1) setImmediate(() => this.#run())
  }

  #run(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const taker of waiting) taker.turn()
  }
}
