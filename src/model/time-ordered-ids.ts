import { randomBytes } from 'node:crypto'

/**
 * Creates ids whose order as text is the order of their creation, also if the system clock is set back. Ids of
 * several processes are different, and are ordered by the clocks of these processes.
 */
export class TimeOrderedIds {
  readonly #process = randomBytes(6).toString('hex')
  #latest = 0
  #count = 0

  /** @param now epoch milliseconds. Returns the id and its time, which never decreases. */
  next(now: number): { readonly id: string; readonly at: number } {
    this.#latest = Math.max(this.#latest, now)
    this.#count += 1
    const id = `${padded(this.#latest, 9)}${padded(this.#count, 8)}${this.#process}`
    return { id, at: this.#latest }
  }
}

const padded = (number: number, digits: number): string => number.toString(36).padStart(digits, '0')
