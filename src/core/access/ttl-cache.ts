import type { Clock } from '../base/clock.ts'

interface Question<Answer> {
  readonly asked: Promise<Answer>
  readonly at: number
}

interface TtlCacheOptions {
  readonly clock: Clock
  /** Maximum number of cached results. Beyond this number, the results that were cached first are evicted. */
  readonly max: number
  /** Time in ms for which a result is cached. Infinity: a result is cached until it is evicted. */
  readonly keepMs: number
}

/**
 * Caches the results of reads of the store. An entry contains the promise of the read. If the value changes
 * during the read, the entry is evicted, so that an outdated result is not cached.
 */
export class TtlCache<Answer> {
  readonly #options: TtlCacheOptions
  readonly #questions = new Map<string, Question<Answer>>()

  constructor(options: TtlCacheOptions) {
    this.#options = options
  }

  get(name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const { clock, max, keepMs } = this.#options
    const known = this.#questions.get(name)
    if (known !== undefined && (keepMs === Number.POSITIVE_INFINITY || clock.now() - known.at < keepMs))
      return known.asked
    const question = { asked: ask(), at: clock.now() }
    this.#questions.delete(name)
    this.#questions.set(name, question)
    question.asked.catch(() => this.#questions.get(name) === question && this.#questions.delete(name))
    const [oldest] = this.#questions.keys()
    if (this.#questions.size > max && oldest !== undefined) this.#questions.delete(oldest)
    return question.asked
  }

  forget(name: string): void {
    this.#questions.delete(name)
  }

  forgetAll(): void {
    this.#questions.clear()
  }
}
