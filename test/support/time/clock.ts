import type { Clock } from '../../../src/core/base/clock.ts'

/** A clock that stands still until a test advances it. */
export class HeldClock implements Clock {
  #now: number
  #waiting: { at: number; readonly fn: () => void }[] = []

  constructor(now = 1_700_000_000_000) {
    this.#now = now
  }

  /** Number of scheduled calls that have not run yet. */
  get pending(): number {
    return this.#waiting.length
  }

  now(): number {
    return this.#now
  }

  after(ms: number, fn: () => void): () => void {
    const entry = { at: this.#now + ms, fn }
    this.#waiting.push(entry)
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== entry)
    }
  }

  /** Changes the time as an operator does: the scheduled calls keep the time that they have to wait. */
  correct(now: number): void {
    for (const entry of this.#waiting) entry.at += now - this.#now
    this.#now = now
  }

  /** Advances the time. Runs the scheduled calls that are due, in the order of their times. */
  advance(ms: number): void {
    this.#now += ms
    const due = this.#waiting.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#now)
    for (const { fn } of due) fn()
  }
}

/** Returns the processor time of this process so far, in ms. Other processes do not extend it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Returns the number of ticks of the event loop until `work` is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const doing = { goesOn: true }
  const turn = (): void => {
    turns += 1
    if (doing.goesOn) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  doing.goesOn = false
  return turns
}
