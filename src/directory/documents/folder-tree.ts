import { lastSegment } from '../../engine/key-encoding.ts'
import { directoryLimits } from '../limits.ts'
import { keys, rootFolderId } from '../organizations/organization-keys.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import {
  type AccessType,
  type FolderRecord,
  folderRecordType,
  type OrganizationCounts,
  organizationCountsType,
  type PlacedFolder,
  placedFolderType,
  type RecordType,
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** Maximum number of index entries in one read. */
const pageSize = 1_000
const nothing: OrganizationCounts = { folders: 0, treeChanges: 0 }

/** The access settings of one folder or document. */
export interface FolderAccess {
  /** Null: the access type of the parent applies. */
  readonly accessType: AccessType | null
  /** If false, the access settings of its ancestors do not apply. */
  readonly inheritAccessFromParent: boolean
}

/**
 * Returns the folder and its ancestors, nearest first; an empty list for `root`. Returns null if the folder
 * does not exist, or if the folder or an ancestor is being deleted: then everything in it counts as deleted.
 */
export const folderPath = (
  reader: DirectoryReader,
  folderId: string,
): Promise<readonly FolderRecord[] | null> => readPath(reader, folderId, folderRecordType)

/**
 * Returns whether `folderPath` finds the folder. Checks only the members of the records that this needs, so
 * other members may be malformed.
 */
export const folderExists = async (reader: DirectoryReader, folderId: string): Promise<boolean> =>
  (await readPath(reader, folderId, placedFolderType)) !== null

async function readPath<Folder extends PlacedFolder>(
  reader: DirectoryReader,
  folderId: string,
  type: RecordType<Folder>,
): Promise<readonly Folder[] | null> {
  const path: Folder[] = []
  for (let id = folderId; id !== rootFolderId; ) {
    const folder = await reader.get(keys.folder(id), type)
    if (folder === null || folder.deleting === true || path.length >= directoryLimits.folderDepth) return null
    path.push(folder)
    id = folder.parentFolderId
  }
  return path
}

/** Returns the effective access type: the nearest one that is set and inherited; otherwise `public`. */
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
 * Returns the access type to store for a resource without its own in a new place. If an ancestor sets an
 * access type, the resource inherits it (null). Otherwise it gets the default, so that a later change of the
 * option leaves it unchanged; the default `public` need not be stored (null).
 * @param above the ancestor folders of the resource, nearest first
 */
export const accessTypeIn = (above: readonly FolderAccess[], defaultAccess: AccessType): AccessType | null =>
  defaultAccess === 'public' || nearestAccessType(above) !== null ? null : defaultAccess

/**
 * Returns the counters of the organization. Read them before the folder tree: each change of the tree writes
 * them, so a transaction that depends on the shape of the tree is repeated if the tree has changed.
 */
export async function readCounts(transaction: Transaction): Promise<OrganizationCounts> {
  return (await transaction.get(keys.counts, organizationCountsType)) ?? nothing
}

/** Records a change of the folder tree. */
export async function markTreeChanged(transaction: Transaction, foldersAdded: number): Promise<void> {
  const { folders, treeChanges } = await readCounts(transaction)
  transaction.put(keys.counts, { folders: folders + foldersAdded, treeChanges: treeChanges + 1 })
}

/** Returns the parent folder of each folder of the organization. */
export async function parentsOfAll(transaction: Transaction): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>()
  for await (const [, parent = '', folderId = ''] of keysUnder(transaction, keys.folderTree))
    parents.set(folderId, parent)
  return parents
}

/** Returns the ids of the folders directly in a folder. */
export async function subfolderIds(reader: DirectoryReader, folderId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const key of keysUnder(reader, keys.foldersIn(folderId))) ids.push(lastSegment(key))
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
