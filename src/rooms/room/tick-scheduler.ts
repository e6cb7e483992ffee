/** Something with work left for the end of the event-loop turn. */
export interface TickTask {
  turn(): void
}

/** Something with work left that nobody waits for. */
export interface AfterTickTask {
  followUp(): void
}

/** Milliseconds of a tick for turns, and as many for costly answers: what remains waits for the next tick. */
const tickMsMax = 16

/**
 * Runs everyone's work once at the end of an event-loop turn: what all sockets delivered in the turn is then
 * one transaction, one commit and one write per receiver.
 */
export class TickScheduler {
  #waiting: TickTask[] = []
  readonly #answers: (() => void)[] = []
  /** Milliseconds of this tick that answers have taken. */
  #answeredMs = 0
  readonly #following = new Set<AfterTickTask>()

  /** The caller sees to it that it adds itself once a turn. */
  add(taker: TickTask): void {
    this.#waiting.push(taker)
    if (this.#waiting.length === 1) setImmediate(this.#run)
  }

  /** Has it called once, when what is being sent now is on its way. */
  follow(follower: AfterTickTask): void {
    this.#following.add(follower)
    if (this.#following.size === 1) setImmediate(this.#followUp)
  }

  /** Runs it at once, or in a later tick if answers have taken their part of this one. */
  answer(work: () => void): void {
    if (this.#answers.length > 0 || this.#answeredMs >= tickMsMax) this.#answers.push(work)
    else this.#answer(work)
  }

  #answer(work: () => void): void {
    const startedAt = performance.now()
    if (this.#answeredMs === 0) setImmediate(this.#answerNext)
    work()
    this.#answeredMs += performance.now() - startedAt
  }

  readonly #answerNext = (): void => {
    this.#answeredMs = 0
    while (this.#answeredMs < tickMsMax) {
      const next = this.#answers.shift()
      if (next === undefined) return
      this.#answer(next)
    }
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    const endsAt = performance.now() + tickMsMax
    for (const [index, taker] of waiting.entries()) {
      taker.turn()
      if (performance.now() < endsAt || index + 1 === waiting.length) continue
      // In front of those that were added meanwhile.
      this.#waiting = [...waiting.slice(index + 1), ...this.#waiting]
      setImmediate(this.#run)
      return
    }
  }

  readonly #followUp = (): void => {
    const following = [...this.#following]
    this.#following.clear()
    for (const follower of following) follower.followUp()
  }
}
