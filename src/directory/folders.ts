import type { Clock } from '../clock.ts'
import { invalid } from '../errors.ts'
import { addFolders, type FolderToAdd } from './folder-adding.ts'
import { folderPath } from './folder-tree.ts'
import { type FolderChange, updateFolders } from './folder-updating.ts'
import { type FolderView, noSuchFolder, viewAll, viewBelow } from './folder-views.ts'
import type { Results } from './items.ts'
import { keys, type OrganizationScope, rootFolderId } from './organization-keys.ts'
import { type OrganizationStore, organizationOf } from './organization-store.ts'
import type { FolderRecord } from './records.ts'
import { removalJob } from './removal-task.ts'
import type { Removals } from './removals.ts'

/** The folders of organizations. Every call of an organization that does not exist throws ApiError NOT_FOUND. */
export class Folders {
  readonly #store: OrganizationStore
  readonly #removals: Removals
  readonly #clock: Clock

  constructor(store: OrganizationStore, removals: Removals, clock: Clock) {
    this.#store = store
    this.#removals = removals
    this.#clock = clock
  }

  add(scope: OrganizationScope, folders: readonly FolderToAdd[]): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      return addFolders(transaction, folders, this.#clock.now())
    })
  }

  /** Changes folders, and moves those whose parent is given and another one, with all that is in them. */
  update(scope: OrganizationScope, changes: readonly FolderChange[]): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      return updateFolders(transaction, changes, this.#clock.now())
    })
  }

  /** Makes the folder, at the top, unless it exists. */
  async ensure(scope: OrganizationScope, folderId: string): Promise<void> {
    if ((await folderPath(this.#store.read(scope), folderId)) === null) await this.add(scope, [{ folderId }])
  }

  async all(scope: OrganizationScope): Promise<readonly FolderView[]> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    return viewAll(reader)
  }

  /** The folder with those below it, `depth` (at least 1) levels. @throws ApiError NOT_FOUND */
  async below(scope: OrganizationScope, folderId: string, depth: number): Promise<FolderView> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    return viewBelow(reader, folderId, depth)
  }

  /** Deletes the folder with all folders and documents in it, and resolves when nothing of them is left. */
  async delete(scope: OrganizationScope, folderId: string): Promise<void> {
    if (folderId === rootFolderId) throw invalid(`the folder ${rootFolderId} cannot be deleted`)
    await this.#removals.await((jobId) =>
      this.#store.change(scope, async (transaction) => {
        await organizationOf(transaction)
        const [folder] = (await folderPath(transaction, folderId)) ?? []
        if (folder === undefined) throw noSuchFolder()
        transaction.put(keys.folder(folderId), { ...folder, deleting: true } satisfies FolderRecord)
        const task = { kind: 'folder', scope, folderId } as const
        transaction.enqueue(removalJob(jobId, task))
        return { result: undefined, task }
      }),
    )
  }
}
