import type { Clock } from '../../base/clock.ts'
import { exhausted } from '../../quota/limits.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'

/** Share of the maximum time that a job gets at least, even if its workspace has a large debt. */
const shortestShare = 0.1
/**
 * Milliseconds by which a debt decreases in each elapsed millisecond. In the long run, the jobs of a
 * workspace that end without a result therefore use at most this share of a thread.
 */
const forgivenShare = 0.1

/**
 * Limits the time that threads spend on jobs that end without a result. The time of such a job is added to
 * the debt of its workspace, which decreases slowly. While a workspace has a debt, its jobs have a shorter
 * deadline. If the debt is large, the workspace gets no thread until the debt has decreased.
 */
export class Overruns {
  readonly #jobMs: number
  /** The debt of each workspace in milliseconds. */
  readonly #debts: RateLimiter

  constructor(clock: Clock, jobMs: number) {
    this.#jobMs = jobMs
    // A RateLimiter accepts a call while at least one unit is left, so the burst is larger by one.
    this.#debts = new RateLimiter({ perSecond: forgivenShare * 1_000, burst: jobMs + 1 }, clock)
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

  /** Checks whether the workspace may use a thread. @throws ApiError RESOURCE_EXHAUSTED while it may not */
  check(workspaceId: string): void {
    const seconds = this.restSeconds(workspaceId)
    if (seconds === 0) return
    const value = this.#jobMs / 1000
    throw exhausted('threadOverrunSeconds', value, {
      problem: `work on large documents of this workspace took more than ${value} s without a result`,
      remedy: `try again after ${seconds} s, with less content`,
      retryAfterSeconds: seconds,
    })
  }
}
