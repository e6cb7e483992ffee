import type { Clock } from '../../clock.ts'
import { exhausted } from '../../quota/limits.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'

/** Fraction of the maximum time that each job gets, however large the debt of its workspace is. */
const shortestShare = 0.1
/**
 * A debt decreases by this fraction of the elapsed time. So jobs without a result use at most this fraction of a thread
 * in the long run.
 */
const forgivenShare = 0.1

/**
 * Counts the time of jobs without a result as a debt of their workspace. The debt decreases slowly. A debt shortens the
 * deadline of the next jobs, and a workspace with a large debt gets no thread for a while.
 */
export class Overruns {
  readonly #jobMs: number
  /** Milliseconds of jobs without a result, by workspace. */
  readonly #debts: RateLimiter

  constructor(clock: Clock, jobMs: number) {
    this.#jobMs = jobMs
    // The limiter admits a call while at least one unit is left.
    this.#debts = new RateLimiter({ perSecond: forgivenShare * 1_000, burst: jobMs + 1, clock })
  }

  /** The longest time for the next job of a workspace. */
  deadlineMs(workspaceId: string): number {
    return Math.max(this.#jobMs * shortestShare, this.#jobMs - this.#debts.usedBy(workspaceId))
  }

  charge(workspaceId: string, ms: number): void {
    this.#debts.charge(workspaceId, ms)
  }

  /** Seconds until the workspace gets a thread again; 0 if it gets one now. */
  restSeconds(workspaceId: string): number {
    return Math.ceil(this.#debts.waitMs(workspaceId) / 1000)
  }

  /** @throws ApiError RESOURCE_EXHAUSTED while the workspace gets no thread */
  check(workspaceId: string): void {
    const seconds = this.restSeconds(workspaceId)
    if (seconds === 0) return
    const value = this.#jobMs / 1000
    throw exhausted('threadOverrunSeconds', value, {
      problem: `work on large documents of this workspace took more than ${value} s without a result`,
      remedy: `try again after ${seconds} s, with less content`,
      retryAfterSeconds: seconds,
      option: 'threadJobSeconds',
    })
  }
}
