import type { Clock } from '../../base/clock.ts'
import { invalid } from '../../base/errors.ts'
import type { DocumentWriteOptions } from '../documents/document-writes.ts'
import { folderPath } from '../documents/folder-tree.ts'
import { type FolderView, listFolders, noSuchFolder, viewBelow } from '../documents/folder-views.ts'
import {
  type FolderInput,
  type FolderPatch,
  writeFolderPatches,
  writeNewFolders,
} from '../documents/folder-writes.ts'
import { keys, type OrganizationScope, rootFolderId } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import type { RemovalService } from '../removal/removal-service.ts'
import { removalJob } from '../removal/removal-task.ts'
import type { BatchResults } from '../store/batch.ts'
import { nearMissAmong } from '../store/list-page.ts'
import { type AccessType, deletionMark, type FolderRecord } from '../store/records.ts'

/** Number of folders in one read when all folders are listed. */
const foldersAtOnce = 100

/**
 * The folders of organizations. Every method throws ApiError NOT_FOUND if the organization does not exist.
 */
export class FolderService {
  readonly #store: OrganizationStore
  readonly #removals: RemovalService
  readonly #clock: Clock
  readonly #defaultAccess: AccessType

  constructor(store: OrganizationStore, removals: RemovalService, clock: Clock, defaultAccess: AccessType) {
    this.#store = store
    this.#removals = removals
    this.#clock = clock
    this.#defaultAccess = defaultAccess
  }

  get #writing(): DocumentWriteOptions {
    return { now: this.#clock.now(), defaultAccess: this.#defaultAccess }
  }

  add(scope: OrganizationScope, folders: readonly FolderInput[]): Promise<BatchResults> {
    return this.#store.changeExisting(scope, (transaction) =>
      writeNewFolders(transaction, folders, this.#writing),
    )
  }

  /** Returns the results that `add` would return now if the organization exists. Writes nothing. */
  rehearseAdding(scope: OrganizationScope, folders: readonly FolderInput[]): Promise<BatchResults> {
    return this.#store.rehearse(scope, (transaction) => writeNewFolders(transaction, folders, this.#writing))
  }

  /** Changes folders. If a patch contains another parent, moves the folder with everything in it. */
  update(scope: OrganizationScope, changes: readonly FolderPatch[]): Promise<BatchResults> {
    return this.#store.changeExisting(scope, (transaction) =>
      writeFolderPatches(transaction, changes, this.#writing),
    )
  }

  /** Creates the folder at the top level, unless it already exists. */
  async ensure(scope: OrganizationScope, folderId: string): Promise<boolean> {
    if ((await folderPath(this.#store.read(scope), folderId)) !== null) return false
    return (await this.add(scope, [{ folderId }]))[folderId]?.success === true
  }

  /** Returns the existing folder of which a new id may be a misspelling; null if there is none. */
  nearMiss(scope: OrganizationScope, folderId: string): Promise<string | null> {
    return nearMissAmong(this.#store.read(scope), keys.folders, folderId)
  }

  /**
   * Returns a function that reads all folders page by page, in the order of their ids.
   * @throws ApiError NOT_FOUND if the organization does not exist. If the organization is deleted later,
   * reading a page throws the same error
   */
  async all(scope: OrganizationScope): Promise<() => AsyncIterable<readonly FolderView[]>> {
    await this.#store.readExisting(scope)
    return () => this.#store.pages(scope, foldersAtOnce, listFolders)
  }

  /**
   * Returns the folder and `depth` levels of folders below it.
   * @throws ApiError NOT_FOUND if the folder does not exist
   */
  async below(scope: OrganizationScope, folderId: string, depth: number): Promise<FolderView> {
    return viewBelow(await this.#store.readExisting(scope), folderId, depth)
  }

  /**
   * Deletes the folder with all folders and documents in it. Resolves when all their data has been removed.
   */
  async delete(scope: OrganizationScope, folderId: string): Promise<void> {
    if (folderId === rootFolderId)
      throw invalid('folder/root', `the folder ${rootFolderId} cannot be deleted; name another`)
    await this.#removals.await((jobId) =>
      this.#store.changeExisting(scope, async (transaction) => {
        const [folder] = (await folderPath(transaction, folderId)) ?? []
        if (folder === undefined) throw noSuchFolder()
        const task = { kind: 'folder', scope, folderId, ...this.#removals.kept(jobId) } as const
        const going = { ...folder, ...deletionMark(task.kept?.id) } satisfies FolderRecord
        transaction.put(keys.folder(folderId), going)
        transaction.enqueue(removalJob(jobId, task))
        return { result: undefined, task }
      }),
    )
  }
}
