import { countsOf, folderPath, treeChanged } from './folder-tree.ts'
import { eachItem, ItemRefused, type Results } from './items.ts'
import { directoryLimits } from './limits.ts'
import { keys, rootFolderId } from './organization-keys.ts'
import { type FolderRecord, present } from './records.ts'
import type { Transaction } from './transaction.ts'

export interface FolderToAdd {
  readonly folderId: string
  readonly folderName?: string | undefined
  /** `root` unless given. */
  readonly parentFolderId?: string | undefined
}

/** Adds folders, also into each other, whatever their order. `now` is in epoch milliseconds. */
export async function addFolders(
  transaction: Transaction,
  folders: readonly FolderToAdd[],
  now: number,
): Promise<Results> {
  const { folders: before } = await countsOf(transaction)
  await transaction.getAll(folders.map(({ folderId }) => keys.folder(folderId)))
  let added = 0
  const results = await eachItem(
    parentsFirst(folders),
    ({ folderId }) => folderId,
    async (folder) => {
      await checkNew(transaction, folder)
      if (before + added >= directoryLimits.folders)
        throw new ItemRefused(`an organization has at most ${directoryLimits.folders} folders`)
      putFolder(transaction, newFolder(folder, now))
      added += 1
      return 'added'
    },
  )
  if (added > 0) await treeChanged(transaction, added)
  return results
}

async function checkNew(
  transaction: Transaction,
  { folderId, parentFolderId = rootFolderId }: FolderToAdd,
): Promise<void> {
  if (folderId === rootFolderId) throw new ItemRefused(`the id ${rootFolderId} is reserved`)
  const existing = await transaction.get<FolderRecord>(keys.folder(folderId))
  if (existing !== null) {
    const exists = (await folderPath(transaction, folderId)) !== null
    throw new ItemRefused(exists ? 'the folder exists already' : 'the folder is being deleted; try again')
  }
  const above = await folderPath(transaction, parentFolderId)
  if (above === null) throw new ItemRefused('the parent folder does not exist')
  if (above.length >= directoryLimits.folderDepth)
    throw new ItemRefused(`folders are at most ${directoryLimits.folderDepth} deep`)
}

const newFolder = (
  { folderId, folderName = '', parentFolderId = rootFolderId }: FolderToAdd,
  now: number,
): FolderRecord => ({
  folderId,
  folderName,
  parentFolderId,
  accessType: null,
  inheritAccessFromParent: true,
  createdAt: now,
  lastUpdated: now,
})

/** Writes a folder and its place. */
export function putFolder(transaction: Transaction, folder: FolderRecord, before?: FolderRecord): void {
  const { folderId, parentFolderId } = folder
  transaction.put(keys.folder(folderId), folder)
  if (before?.parentFolderId === parentFolderId) return
  if (before !== undefined) transaction.delete(keys.folderIn(before.parentFolderId, folderId))
  transaction.put(keys.folderIn(parentFolderId, folderId), present)
}

/** Parents before those in them, else by id: what there is no room for is the same in every order of the list. */
function parentsFirst(folders: readonly FolderToAdd[]): readonly FolderToAdd[] {
  const byId = new Map(folders.map((folder) => [folder.folderId, folder]))
  const placed = new Set<FolderToAdd>()
  const ordered: FolderToAdd[] = []
  for (const folder of folders.toSorted((a, b) => (a.folderId < b.folderId ? -1 : 1))) {
    const upwards: FolderToAdd[] = []
    let next: FolderToAdd | undefined = folder
    while (next !== undefined && !placed.has(next)) {
      placed.add(next)
      upwards.push(next)
      next = byId.get(next.parentFolderId ?? rootFolderId)
    }
    ordered.push(...upwards.toReversed())
  }
  return ordered
}
