import { pauseAfter } from '../../core/base/backoff.ts'
import type { Clock } from '../../core/base/clock.ts'

/** Number of consecutive failures after which calls are paused. */
const failuresMax = 5
/** Time for which calls are paused. */
const pauses = { firstMs: 2_000, maxMs: 60_000, jitter: 0 }
/** Time in ms after the end of a pause after which its receiver is forgotten if nothing calls it. */
const unusedMs = 300_000
/** Maximum number of receivers with failures that are kept. Beyond it, the oldest is evicted. */
const receiversMax = 10_000

interface Failing {
  failures: number
  /** Subjects of the failures that concern one subject only. At most `failuresMax`. */
  readonly subjects: string[]
  /** Time until which calls are paused, in epoch milliseconds; 0 if they are not paused. */
  until: number
  /** True if the pause has ended and one call probes the receiver. */
  isProbed: boolean
}

/**
 * Circuit breakers, one for each receiver of calls. After some consecutive failures, calls to the receiver are
 * rejected for a time. Then one call probes the receiver: its success ends the pause.
 */
export class CircuitBreakers {
  readonly #clock: Clock
  /** Receivers whose latest calls failed, but whose calls are not paused, by name. */
  readonly #failing = new Map<string, Failing>()
  /** Receivers whose calls are paused, by name, in the order of their latest failure. */
  readonly #paused = new Map<string, Failing>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Number of receivers whose calls are paused. Forgets those that nothing calls any more. */
  get open(): number {
    const now = this.#clock.now()
    for (const [receiver, { until }] of this.#paused) {
      // Stops at the first receiver that stays, because the others failed later.
      if (now < until + unusedMs) break
      this.#paused.delete(receiver)
    }
    return this.#paused.size
  }

  /** Returns whether the last call to a receiver failed. */
  isFailing(receiver: string): boolean {
    return this.#failing.has(receiver) || this.#paused.has(receiver)
  }

  /** Returns whether calls to a receiver are rejected now. */
  isPaused(receiver: string): boolean {
    return this.#clock.now() < (this.#paused.get(receiver)?.until ?? 0)
  }

  /**
   * Returns whether a call may be made now. At the end of a pause, one call may be made.
   * @param timeoutMs maximum time of the call; if its result is not reported, another call may then be made
   */
  admit(receiver: string, timeoutMs: number): boolean {
    const paused = this.#paused.get(receiver)
    if (paused === undefined) return true
    const now = this.#clock.now()
    if (now < paused.until) return false
    paused.until = now + Math.max(pauses.firstMs, timeoutMs)
    paused.isProbed = true
    return true
  }

  succeeded(receiver: string): void {
    this.#failing.delete(receiver)
    this.#paused.delete(receiver)
  }

  /**
   * Reports the failure of a call.
   * @param subject the only subject that the failure may concern, such as a document; absent if it concerns the
   * receiver. Repeated failures of one subject count once, so that one bad document does not pause the others.
   */
  failed(receiver: string, subject?: string): void {
    const paused = this.#paused.get(receiver)
    // The failure of a call that was made before the pause does not extend the pause.
    if (paused !== undefined && !paused.isProbed) return
    const { failures = 0, subjects = [] } = paused ?? this.#failing.get(receiver) ?? {}
    if (paused === undefined && subject !== undefined && subjects.includes(subject)) return
    if (subject !== undefined && subjects.length < failuresMax) subjects.push(subject)
    this.succeeded(receiver)
    this.#keep(receiver, failures + 1, subjects)
  }

  #keep(receiver: string, failures: number, subjects: string[]): void {
    const over = failures - failuresMax
    const until = over < 0 ? 0 : this.#clock.now() + pauseAfter(pauses, over + 1)
    const kept = over < 0 ? this.#failing : this.#paused
    kept.set(receiver, { failures, subjects, until, isProbed: false })
    const [oldest] = kept.keys()
    if (kept.size > receiversMax && oldest !== undefined) kept.delete(oldest)
  }
}
