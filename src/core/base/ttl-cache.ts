import type { Clock } from './clock.ts'

interface Question<Answer> {
  readonly asked: Promise<Answer>
  readonly at: number
}

/**
 * Caches the results of reads of the store. An entry contains the promise of the read. If the value changes
 * during the read, the entry is evicted, so that an outdated result is not cached.
 */
export class TtlCache<Answer> {
  readonly #clock: Clock
  /** Time in ms for which a result is cached. Infinity: a result is cached until it is evicted. */
  readonly #keepMs: number
  /** Maximum number of cached results. Beyond this number, the results that were cached first are evicted. */
  readonly #max: number
  readonly #questions = new Map<string, Question<Answer>>()

  constructor(clock: Clock, keepMs: number, max: number) {
    this.#clock = clock
    this.#keepMs = keepMs
    this.#max = max
  }

  get(name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#questions.get(name)
    if (
      known !== undefined &&
      (this.#keepMs === Number.POSITIVE_INFINITY || this.#clock.now() - known.at < this.#keepMs)
    )
      return known.asked
    const question = { asked: ask(), at: this.#clock.now() }
    this.#questions.delete(name)
    this.#questions.set(name, question)
    question.asked.catch(() => this.#questions.get(name) === question && this.#questions.delete(name))
    const [oldest] = this.#questions.keys()
    if (this.#questions.size > this.#max && oldest !== undefined) this.#questions.delete(oldest)
    return question.asked
  }

  forget(name: string): void {
    this.#questions.delete(name)
  }

  forgetAll(): void {
    this.#questions.clear()
  }
}
