import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { TtlCache } from '../../base/ttl-cache.ts'
import type { TenantStore } from './tenant-store.ts'

/** Time in ms for which the setting of a workspace is cached. */
const readEveryMs = 10_000
/** Maximum number of cached workspaces. Beyond this number, the one that was read first is evicted. */
const workspacesMax = 10_000

/**
 * Whether a workspace keeps the authors of changes. A change of the setting takes effect on this node at once,
 * and on the other nodes within `readEveryMs`.
 */
export class AttributionSetting {
  readonly #tenants: TenantStore
  readonly #cache: TtlCache<boolean>

  constructor(tenants: TenantStore, clock: Clock) {
    this.#tenants = tenants
    this.#cache = new TtlCache(clock, readEveryMs, workspacesMax)
  }

  /** Returns whether attribution is enabled in a workspace, which is the default. @throws StoreUnavailableError */
  isEnabled(workspaceId: string): Promise<boolean> {
    return this.#cache.get(
      workspaceId,
      async () => (await this.#tenants.workspace(workspaceId))?.attribution !== false,
    )
  }

  /** @throws ApiError FAILED_PRECONDITION if the workspace has disabled attribution; StoreUnavailableError */
  async require(workspaceId: string): Promise<void> {
    if (!(await this.isEnabled(workspaceId)))
      throw new ApiError(
        'crdt/attribution-disabled',
        'attribution is disabled in this workspace; enable it with /v2/workspace/attribution/update',
      )
  }

  /** Discards the cached setting of a workspace. Call this method when the setting has changed. */
  forget(workspaceId: string): void {
    this.#cache.forget(workspaceId)
  }
}
