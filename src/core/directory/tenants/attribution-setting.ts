import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import type { TenantStore } from './tenant-store.ts'

/** Time in ms for which the setting of a workspace is cached. */
const readEveryMs = 10_000
/** Maximum number of cached workspaces. Beyond this number, the one that was read first is evicted. */
const workspacesMax = 10_000

interface CachedSetting {
  readonly isEnabled: Promise<boolean>
  readonly until: number
}

/**
 * Whether a workspace keeps the authors of changes. A change of the setting takes effect on this node at once,
 * and on the other nodes within `readEveryMs`.
 */
export class AttributionSetting {
  readonly #tenants: TenantStore
  readonly #clock: Clock
  readonly #cache = new Map<string, CachedSetting>()

  constructor(tenants: TenantStore, clock: Clock) {
    this.#tenants = tenants
    this.#clock = clock
  }

  /** Returns whether attribution is enabled in a workspace, which is the default. @throws StoreUnavailableError */
  isEnabled(workspaceId: string): Promise<boolean> {
    const cached = this.#cache.get(workspaceId)
    if (cached !== undefined && this.#clock.now() < cached.until) return cached.isEnabled
    const isEnabled = this.#read(workspaceId)
    this.#cache.delete(workspaceId)
    const [oldest] = this.#cache.keys()
    if (oldest !== undefined && this.#cache.size >= workspacesMax) this.#cache.delete(oldest)
    this.#cache.set(workspaceId, { isEnabled, until: this.#clock.now() + readEveryMs })
    isEnabled.catch(() => this.forget(workspaceId))
    return isEnabled
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
    this.#cache.delete(workspaceId)
  }

  async #read(workspaceId: string): Promise<boolean> {
    return (await this.#tenants.workspace(workspaceId))?.attribution !== false
  }
}
