import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Rate } from '../config/option-parsers.ts'
import type { ClusterRates } from '../quota/cluster-rates.ts'
import { exhausted, type LimitName } from '../quota/limits.ts'
import { RateLimiter } from '../quota/rate-limiter.ts'
import type { TenantStore } from './tenants/tenant-store.ts'
import { type LimitedWorkspace, WorkspaceLimits } from './workspace-limits.ts'

const limit: LimitName = 'callsPerWorkspace'

interface RatedWorkspace extends LimitedWorkspace {
  /** Null if the workspace has no limit of its own, or if it was not read yet. */
  limiter: RateLimiter | null
  rate: Rate | null
}

/**
 * The rates of calls that the operator has set for single workspaces, over all their API keys. All nodes count
 * together. A new rate applies to this node at once, and to other nodes when they read it again.
 */
export class CallQuota extends WorkspaceLimits<RatedWorkspace> {
  readonly #tenants: Pick<TenantStore, 'workspace'>
  readonly #log: Log
  readonly #used: (workspaceId: string, calls: number) => void

  constructor(tenants: Pick<TenantStore, 'workspace'>, rates: ClusterRates, clock: Clock, log: Log) {
    super(clock)
    this.#tenants = tenants
    this.#log = log
    this.#used = rates.share(limit, (workspaceId, calls) =>
      this.workspaces.get(workspaceId)?.limiter?.chargeOthers(workspaceId, calls),
    )
  }

  /**
   * Counts calls. Accepts calls until the limit of the workspace was read.
   * @throws ApiError RESOURCE_EXHAUSTED if the workspace exceeds its limit; the calls are then not counted
   */
  take(workspaceId: string, calls = 1): void {
    const { limiter } = this.workspace(workspaceId)
    const waitMs = limiter?.take(workspaceId, calls) ?? 0
    if (limiter === null || waitMs === 0) return
    const seconds = Math.ceil(waitMs / 1000)
    throw exhausted(limit, limiter.perSecond, {
      problem: `too many calls of this workspace: the limit ${limit} is ${limiter.perSecond} per second`,
      remedy: `try again after ${seconds} s (Retry-After), call less often, or have the operator raise the limit with /v2/workspace/calllimit/update`,
      retryAfterSeconds: seconds,
    })
  }

  /** Counts calls that have been accepted, also beyond the limit. */
  charge(workspaceId: string, calls: number): void {
    this.workspace(workspaceId).limiter?.charge(workspaceId, calls)
  }

  /** Returns the milliseconds until `take` would accept a call. */
  waitMs(workspaceId: string): number {
    return this.workspace(workspaceId).limiter?.waitMs(workspaceId) ?? 0
  }

  protected created(): RatedWorkspace {
    return { limiter: null, rate: null, readAt: 0, reading: null }
  }

  protected async read(workspaceId: string, workspace: RatedWorkspace): Promise<void> {
    try {
      const rate = (await this.#tenants.workspace(workspaceId))?.calls ?? null
      if (rate?.perSecond !== workspace.rate?.perSecond || rate?.burst !== workspace.rate?.burst) {
        workspace.rate = rate
        workspace.limiter = rate === null ? null : new RateLimiter(rate, this.clock, this.#used)
      }
    } catch (err) {
      this.#log.warn(
        { event: 'call_quota.read_failed', err, workspaceId },
        'could not read the call limit of a workspace; retrying',
      )
    }
  }
}
