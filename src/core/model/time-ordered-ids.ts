import { randomBytes } from 'node:crypto'

/**
 * Creates ids whose order as text is the order of their creation, even if the system clock is set back. The
 * ids of several processes are different, and their order follows the clocks of the processes.
 */
export class TimeOrderedIds {
  readonly #process = randomBytes(6).toString('hex')
  #latest = 0
  #count = 0

  /** Returns the next id and its time, which never decreases. @param now epoch milliseconds */
  next(now: number): { readonly id: string; readonly at: number } {
    this.#latest = Math.max(this.#latest, now)
    this.#count += 1
    const id = `${padded(this.#latest, 9)}${padded(this.#count, 8)}${this.#process}`
    return { id, at: this.#latest }
  }
}

const padded = (number: number, digits: number): string => number.toString(36).padStart(digits, '0')
