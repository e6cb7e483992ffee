import { directoryLimits } from '../limits.ts'
import { keys, rootFolderId } from '../organizations/organization-keys.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import { type AccessType, emptyValue, type FolderRecord, folderRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import type { DocumentWriteOptions } from './document-writes.ts'
import { accessTypeIn, folderPath, markTreeChanged, readCounts } from './folder-tree.ts'

export interface FolderInput {
  readonly folderId: string
  readonly folderName?: string | undefined
  /** Id of the parent folder. Default: `root`. */
  readonly parentFolderId?: string | undefined
}

/**
 * Adds folders. The order of the list does not matter: a new folder may be the parent of another new folder.
 */
export async function writeNewFolders(
  transaction: Transaction,
  folders: readonly FolderInput[],
  { now, defaultAccess }: DocumentWriteOptions,
): Promise<BatchResults> {
  const { folders: before } = await readCounts(transaction)
  await transaction.getAll(folders.map(({ folderId }) => keys.folder(folderId)))
  let added = 0
  const results = await forEachItem(
    parentsFirst(folders),
    ({ folderId }) => folderId,
    async (folder) => {
      const above = await foldersAbove(transaction, folder)
      if (before + added >= directoryLimits.folders)
        throw new ItemRejectedError(
          'folder/too-many',
          `an organization has at most ${directoryLimits.folders} folders; delete some`,
        )
      putFolder(transaction, newFolder(folder, accessTypeIn(above, defaultAccess), now))
      added += 1
      return 'added'
    },
  )
  if (added > 0) await markTreeChanged(transaction, added)
  return results
}

/**
 * Returns the future ancestors of a new folder, nearest first.
 * @throws ItemRejectedError if the folder cannot be added
 */
async function foldersAbove(
  transaction: Transaction,
  { folderId, parentFolderId = rootFolderId }: FolderInput,
): Promise<readonly FolderRecord[]> {
  if (folderId === rootFolderId)
    throw new ItemRejectedError('folder/root', `the id ${rootFolderId} is reserved`)
  const existing = await transaction.get(keys.folder(folderId), folderRecordType)
  if (existing !== null) {
    const exists = (await folderPath(transaction, folderId)) !== null
    throw exists
      ? new ItemRejectedError('folder/exists', 'the folder exists already')
      : new ItemRejectedError('folder/being-deleted', 'the folder is being deleted; try again')
  }
  const above = await folderPath(transaction, parentFolderId)
  if (above === null) throw new ItemRejectedError('folder/not-found', 'the parent folder does not exist')
  if (above.length >= directoryLimits.folderDepth)
    throw new ItemRejectedError(
      'folder/too-deep',
      `folders are at most ${directoryLimits.folderDepth} deep; choose a higher parent folder`,
    )
  return above
}

const newFolder = (
  { folderId, folderName = '', parentFolderId = rootFolderId }: FolderInput,
  accessType: AccessType | null,
  now: number,
): FolderRecord => ({
  folderId,
  folderName,
  parentFolderId,
  accessType,
  inheritAccessFromParent: true,
  createdAt: now,
  lastUpdated: now,
})

/** Writes a folder and its index entry. */
export function putFolder(transaction: Transaction, folder: FolderRecord, before?: FolderRecord): void {
  const { folderId, parentFolderId } = folder
  transaction.put(keys.folder(folderId), folder)
  if (before?.parentFolderId === parentFolderId) return
  if (before !== undefined) transaction.delete(keys.folderIn(before.parentFolderId, folderId))
  transaction.put(keys.folderIn(parentFolderId, folderId), emptyValue)
}

/**
 * Sorts the folders: parents before their children, otherwise by id. As a result, if a limit is exceeded, the
 * same folders are rejected for every order of the list.
 */
function parentsFirst(folders: readonly FolderInput[]): readonly FolderInput[] {
  const byId = new Map(folders.map((folder) => [folder.folderId, folder]))
  const placed = new Set<FolderInput>()
  const ordered: FolderInput[] = []
  for (const folder of folders.toSorted((a, b) => (a.folderId < b.folderId ? -1 : 1))) {
    const upwards: FolderInput[] = []
    let next: FolderInput | undefined = folder
    while (next !== undefined && !placed.has(next)) {
      placed.add(next)
      upwards.push(next)
      next = byId.get(next.parentFolderId ?? rootFolderId)
    }
    ordered.push(...upwards.toReversed())
  }
  return ordered
}
