import type { Clock } from '../clock.ts'

/** Number of consecutive failures after which calls are paused. */
const failuresMax = 5
/** Time in ms for which calls are paused at first. It doubles with each further failure up to `pauseMsMax`. */
const pauseMs = 2_000
const pauseMsMax = 60_000
/** Maximum number of receivers with failures that are kept. Beyond it, the oldest is evicted. */
const receiversMax = 10_000

interface Failing {
  failures: number
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
  /** Receivers whose latest call failed, by name. */
  readonly #failing = new Map<string, Failing>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Number of receivers whose calls are paused. */
  get open(): number {
    return [...this.#failing.values()].filter(({ failures }) => failures >= failuresMax).length
  }

  /**
   * Returns whether a call may be made now. At the end of a pause, one call may be made.
   * @param timeoutMs maximum time of the call; if its result is not reported, another call may then be made
   */
  admit(receiver: string, timeoutMs: number): boolean {
    const failing = this.#failing.get(receiver)
    if (failing === undefined || failing.failures < failuresMax) return true
    const now = this.#clock.now()
    if (now < failing.until) return false
    failing.until = now + Math.max(pauseMs, timeoutMs)
    failing.isProbed = true
    return true
  }

  succeeded(receiver: string): void {
    this.#failing.delete(receiver)
  }

  failed(receiver: string): void {
    const failing = this.#failing.get(receiver)
    // The failure of a call that was made before the pause does not extend the pause.
    if (failing !== undefined && failing.failures >= failuresMax && !failing.isProbed) return
    const failures = (failing?.failures ?? 0) + 1
    const over = Math.min(failures - failuresMax, 16)
    const until = over < 0 ? 0 : this.#clock.now() + Math.min(pauseMsMax, pauseMs * 2 ** over)
    this.#failing.delete(receiver)
    this.#failing.set(receiver, { failures, until, isProbed: false })
    const [oldest] = this.#failing.keys()
    if (this.#failing.size > receiversMax && oldest !== undefined) this.#failing.delete(oldest)
  }
}
