import type { Key } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { entryPages } from '../../store/pages.ts'
import type { RecordType } from '../../store/stored-record.ts'
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
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** Maximum number of index entries in one read. */
const pageSize = 1_000
const nothing: OrganizationCounts = { folders: 0, treeChanges: 0 }

/** The access settings of one folder or document. */
export interface FolderAccess {
  /** Access type of the folder or document itself. Null: the access type of the parent applies. */
  readonly accessType: AccessType | null
  /** If false, the access settings of the ancestors do not apply. */
  readonly inheritAccessFromParent: boolean
}

/**
 * Returns the folder and its ancestors, nearest first; an empty list for `root`. Returns null if the folder
 * does not exist, or if the folder or one of its ancestors is being deleted. Everything in such a folder
 * counts as deleted.
 */
export const folderPath = (
  reader: DirectoryReader,
  folderId: string,
): Promise<readonly FolderRecord[] | null> => readPath(reader, folderId, folderRecordType)

/**
 * Returns whether `folderPath` would find the folder. Checks only the required members of the records, so the
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

/**
 * Returns the effective access type. It is the access type of the nearest level that sets one, among the
 * levels from which the resource inherits. If there is none, returns `public`.
 */
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
 * Returns the access type to store for a resource that is created or moved and has no access type of its own.
 * If an ancestor sets an access type, the resource inherits it (null). Otherwise the default is stored, so
 * that a later change of the option does not affect the resource. The default `public` need not be stored
 * (null).
 * @param above the ancestor folders of the resource, nearest first
 */
export const accessTypeIn = (above: readonly FolderAccess[], defaultAccess: AccessType): AccessType | null =>
  defaultAccess === 'public' || nearestAccessType(above) !== null ? null : defaultAccess

/**
 * Returns the counters of the organization. Read them before you read the folder tree: each change of the
 * tree writes these counters, so a transaction that has read them is repeated if the tree has changed.
 */
export async function readCounts(transaction: Transaction): Promise<OrganizationCounts> {
  return (await transaction.get(keys.counts, organizationCountsType)) ?? nothing
}

/**
 * Records that a commit changes the folder tree.
 * @param foldersAdded number of folders that the commit adds; negative if it removes folders
 */
export async function markTreeChanged(transaction: Transaction, foldersAdded: number): Promise<void> {
  const { folders, treeChanges } = await readCounts(transaction)
  transaction.put(keys.counts, { folders: folders + foldersAdded, treeChanges: treeChanges + 1 })
}

/** Returns the parent folder id of each folder of the organization. */
export async function parentsOfAll(reader: DirectoryReader): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>()
  for await (const [, parent = '', folderId = ''] of keysUnder(reader, keys.folderTree))
    parents.set(folderId, parent)
  return parents
}

/** Returns the ids of the folders directly in a folder. */
export async function subfolderIds(reader: DirectoryReader, folderId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const key of keysUnder(reader, keys.foldersIn(folderId))) ids.push(lastSegment(key))
  return ids
}

async function* keysUnder(reader: DirectoryReader, prefix: Key) {
  for await (const page of entryPages((range) => reader.scan(range), { prefix, limit: pageSize }))
    for (const { key } of page) yield key
}
