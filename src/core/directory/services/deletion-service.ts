import { ApiError } from '../../base/errors.ts'
import type { Tenant } from '../../model/address.ts'
import { type DeletionRecord, deletionScope } from '../removal/deletion-record.ts'
import type { DeletionStore } from '../removal/deletion-store.ts'
import type { RemovalService } from '../removal/removal-service.ts'
import { type ListPage, listSlices, type PageRange } from '../store/list-page.ts'

const problems = {
  'deletion/id-exists': 'the id is in use again',
  'deletion/no-parent': 'the parent does not exist',
  'deletion/editor-changed': 'the editor of the branch was pruned, migrated or deleted',
} as const

/** The deletions of tenants whose data can be restored. */
export class DeletionService {
  readonly #store: DeletionStore
  readonly #removals: RemovalService

  constructor(store: DeletionStore, removals: RemovalService) {
    this.#store = store
    this.#removals = removals
  }

  /**
   * Returns a page of the deletions that can be restored. It may have fewer items than requested, although further
   * pages follow.
   * @param organizationId lists only the deletions in this organization
   */
  list(tenant: Tenant, range: PageRange, organizationId?: string): Promise<ListPage<DeletionRecord>> {
    return listSlices(async (part) => {
      const { items, next } = await this.#store.list(tenant, part)
      const isWanted = ({ state, organizationId: id }: DeletionRecord): boolean =>
        state === 'kept' && (organizationId === undefined || id === organizationId)
      return { items: items.filter(isWanted), next }
    }, range)
  }

  /**
   * Restores what a deletion has removed. Resolves when it is visible.
   * @throws ApiError NOT_FOUND; FAILED_PRECONDITION if an id is in use again, or if the parent does not exist: nothing
   * has changed; ABORTED if the deletion has not ended, or another call restores or purges it
   */
  async restore(tenant: Tenant, deletionId: string): Promise<void> {
    await this.#end(tenant, deletionId, 'restore')
    const problem = (await this.#store.find(tenant, deletionId))?.problem
    if (problem === undefined) return
    const { code, id } = problem
    throw new ApiError(code, `${problems[code]}: ${JSON.stringify(id)}; nothing was restored`)
  }

  /** Deletes the data of a deletion. Resolves when it is deleted. @throws ApiError NOT_FOUND, ABORTED like `restore` */
  purge(tenant: Tenant, deletionId: string): Promise<void> {
    return this.#end(tenant, deletionId, 'purge')
  }

  #end(tenant: Tenant, deletionId: string, kind: 'restore' | 'purge'): Promise<void> {
    return this.#removals.await(async (jobId) => {
      const task = { kind, scope: deletionScope(tenant, deletionId) } as const
      const state = kind === 'restore' ? 'restoring' : 'purging'
      const found = await this.#store.update(tenant, deletionId, ['kept'], { state }, { jobId, task })
      if (found !== null) return { result: undefined, task }
      if ((await this.#store.find(tenant, deletionId)) === null)
        throw new ApiError('deletion/not-found', 'there is no such deletion; see /v2/workspace/deleted/get')
      throw new ApiError('deletion/in-progress', 'another call deletes or restores this; try again')
    })
  }
}
