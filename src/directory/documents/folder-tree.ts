import { directoryLimits } from '../limits.ts'
import { keys, rootFolderId } from '../organizations/organization-keys.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { AccessType, FolderRecord, OrganizationCounts } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** Entries of an index that are read at a time. */
const pageSize = 1_000
const nothing: OrganizationCounts = { folders: 0, treeChanges: 0 }

/** What decides about access at one place of the tree. */
export interface FolderAccess {
  /** Null: as above it. */
  readonly accessType: AccessType | null
  /** False: what is above it does not count. */
  readonly inheritAccessFromParent: boolean
}

/**
 * The folder and those it is in, the nearest first; none for `root`. Null when there is no such folder, or one of
 * them is being deleted: then all that is in it is gone already.
 */
export async function folderPath(
  reader: DirectoryReader,
  folderId: string,
): Promise<readonly FolderRecord[] | null> {
  const path: FolderRecord[] = []
  for (let id = folderId; id !== rootFolderId; ) {
    const folder = await reader.get<FolderRecord>(keys.folder(id))
    if (folder === null || folder.deleting === true || path.length >= directoryLimits.folderDepth) return null
    path.push(folder)
    id = folder.parentFolderId
  }
  return path
}

/** The access type in effect: the nearest one that is set, as far as access is inherited; else `public`. */
export const effectiveAccessType = (upwards: readonly FolderAccess[]): AccessType =>
  nearestAccessType(upwards) ?? 'public'

function nearestAccessType(upwards: readonly FolderAccess[]): AccessType | null {
  for (const { accessType, inheritAccessFromParent } of upwards) {
    if (accessType !== null) return accessType
    if (!inheritAccessFromParent) break
  }
  return null
}

/**
 * The access type to store with something that has none of its own, in a new place. It inherits one that is set above it.
 * Otherwise it gets the default, so that a later change of the option leaves it as it is; `public` needs no record.
 * @param above the folders that it is in, the nearest first
 */
export const accessTypeIn = (above: readonly FolderAccess[], defaultAccess: AccessType): AccessType | null =>
  defaultAccess === 'public' || nearestAccessType(above) !== null ? null : defaultAccess

/**
 * Numbers of the organization, to be read before the tree is looked at: who changes the tree writes them, so that a
 * transaction that depends on its shape is made again when that has changed.
 */
export async function readCounts(transaction: Transaction): Promise<OrganizationCounts> {
  return (await transaction.get<OrganizationCounts>(keys.counts)) ?? nothing
}

/** Notes a change of the tree. */
export async function markTreeChanged(transaction: Transaction, foldersAdded: number): Promise<void> {
  const { folders, treeChanges } = await readCounts(transaction)
  transaction.put(keys.counts, { folders: folders + foldersAdded, treeChanges: treeChanges + 1 })
}

/** The folder that each folder of the organization is in. */
export async function parentsOfAll(transaction: Transaction): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>()
  for await (const [, parent = '', folderId = ''] of keysUnder(transaction, keys.folderTree))
    parents.set(folderId, parent)
  return parents
}

/** Ids of the folders directly in a folder. */
export async function subfolderIds(reader: DirectoryReader, folderId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const key of keysUnder(reader, keys.foldersIn(folderId))) ids.push(key.at(-1) as string)
  return ids
}

async function* keysUnder(reader: DirectoryReader, prefix: readonly string[]) {
  let after: readonly string[] | undefined
  do {
    const page = await reader.scan({ prefix, limit: pageSize, ...(after && { after }) })
    for (const { key } of page) yield key
    after = page.length < pageSize ? undefined : page.at(-1)?.key
  } while (after !== undefined)
}
