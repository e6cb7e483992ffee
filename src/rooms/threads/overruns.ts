import type { Clock } from '../../clock.ts'
import { exhausted } from '../../quota/limits.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'

/** Minimum share of the maximum time that each job gets, even if its workspace has a large debt. */
const shortestShare = 0.1
/**
 * Share of the elapsed time by which a debt decreases. In the long run, jobs without a result therefore use
 * at most this share of a thread.
 */
const forgivenShare = 0.1

/**
 * Counts the time of jobs that end without a result as a debt of their workspace. The debt decreases slowly.
 * While a workspace has a debt, its jobs have a shorter deadline. If the debt is large, the workspace gets no
 * thread for a while.
 */
export class Overruns {
  readonly #jobMs: number
  /** Milliseconds of jobs without a result, by workspace. */
  readonly #debts: RateLimiter

  constructor(clock: Clock, jobMs: number) {
    this.#jobMs = jobMs
    // A RateLimiter accepts a call while at least one unit is left, so the burst is larger by one.
    this.#debts = new RateLimiter({ rate: { perSecond: forgivenShare * 1_000, burst: jobMs + 1 }, clock })
  }

  /** Returns the maximum milliseconds for the next job of a workspace. */
  deadlineMs(workspaceId: string): number {
    return Math.max(this.#jobMs * shortestShare, this.#jobMs - this.#debts.usedBy(workspaceId))
  }

  charge(workspaceId: string, ms: number): void {
    this.#debts.charge(workspaceId, ms)
  }

  /** Returns the seconds until the workspace gets a thread again; 0 if it gets one now. */
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
