import type { Clock } from '../../clock.ts'
import { exhausted } from '../../quota/limits.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'

/** The part of the longest time that every job has, however many jobs of its workspace took too long before. */
const shortestShare = 0.1
/** The part of the passing time by which a debt decreases, and of a thread that useless work takes over time. */
const forgivenShare = 0.1

/**
 * Workspaces whose jobs come to nothing. The time of each such job is a debt of its workspace, which decreases slowly.
 * A debt shortens the deadline of the next jobs, and a workspace with a large debt gets no thread for a while.
 */
export class Overruns {
  readonly #jobMs: number
  /** Counts milliseconds of useless work. */
  readonly #debts: RateLimiter

  constructor(clock: Clock, jobMs: number) {
    this.#jobMs = jobMs
    // A limiter lets a call in while one is left.
    this.#debts = new RateLimiter({ perSecond: forgivenShare * 1_000, burst: jobMs + 1, clock })
  }

  /** The longest time for the next job of a workspace. */
  deadlineMs(workspaceId: string): number {
    return Math.max(this.#jobMs * shortestShare, this.#jobMs - this.#debts.usedBy(workspaceId))
  }

  charge(workspaceId: string, ms: number): void {
    this.#debts.charge(workspaceId, ms)
  }

  /** Seconds until the workspace gets a thread again; 0 where nothing is in its way. */
  restSeconds(workspaceId: string): number {
    return Math.ceil(this.#debts.waitMs(workspaceId) / 1000)
  }

  /** @throws ApiError RESOURCE_EXHAUSTED while the workspace gets no thread */
  check(workspaceId: string): void {
    const seconds = this.restSeconds(workspaceId)
    if (seconds === 0) return
    const value = this.#jobMs / 1000
    throw exhausted('threadOverrunSeconds', value, {
      problem: `work on large documents of this workspace took more than ${value} s in vain`,
      remedy: `try again after ${seconds} s, with less content`,
      retryAfterSeconds: seconds,
      option: 'threadJobSeconds',
    })
  }
}
