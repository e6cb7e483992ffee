import { ApiError } from '../../base/errors.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { directoryLimits } from '../limits.ts'
import { keys, rootFolderId } from '../organizations/organization-keys.ts'
import { mapInSlices } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { type ListPage, listEntries, type PageRange } from '../store/list-page.ts'
import { type AccessType, type FolderRecord, folderRecordType } from '../store/records.ts'
import { effectiveAccessType, folderPath, subfolderIds } from './folder-tree.ts'

/** A folder as the API returns it. */
export interface FolderView {
  readonly record: FolderRecord
  /** The effective access type: the access type of the folder itself, or an inherited one. */
  readonly accessType: AccessType
  /** Ids of the ancestor folders, from `root` down to the parent. */
  readonly ancestors: readonly string[]
  /** The folders directly in this folder; null if they are below the requested depth. */
  readonly subFolders: readonly FolderView[] | null
}

export const noSuchFolder = (): ApiError =>
  new ApiError('folder/not-found', 'the folder does not exist; check folderId')

/**
 * Returns a page of the folders of the organization, in the order of their ids. Leaves out folders that are
 * being deleted, or that have an ancestor that is being deleted.
 */
export async function listFolders(reader: DirectoryReader, range: PageRange): Promise<ListPage<FolderView>> {
  const { items, next } = await listEntries(reader, keys.folders, range)
  const paths = await mapInSlices(items, ({ key }) => folderPath(reader, lastSegment(key)))
  return { items: paths.flatMap((path) => (path === null ? [] : [viewOf(path, null)])), next }
}

/**
 * Returns a folder and `depth` levels of folders below it.
 * @throws ApiError NOT_FOUND if the folder does not exist
 */
export async function viewBelow(
  reader: DirectoryReader,
  folderId: string,
  depth: number,
): Promise<FolderView> {
  const path = folderId === rootFolderId ? null : await folderPath(reader, folderId)
  if (path === null) throw noSuchFolder()
  return viewTree(reader, path, Math.min(depth, directoryLimits.folderDepth))
}

async function viewTree(
  reader: DirectoryReader,
  path: readonly FolderRecord[],
  depth: number,
): Promise<FolderView> {
  const [folder] = path
  if (folder === undefined || depth === 0) return viewOf(path, null)
  const ids = await subfolderIds(reader, folder.folderId)
  const records = await reader.getAll(ids.map(keys.folder), folderRecordType)
  // A folder may have been moved after the index was read. It is then no longer in `folder`.
  const inHere = records
    .filter((record) => record !== null)
    .filter(({ parentFolderId, deleting }) => parentFolderId === folder.folderId && !deleting)
  const subFolders = await mapInSlices(inHere, (record) => viewTree(reader, [record, ...path], depth - 1))
  return viewOf(path, subFolders)
}

/** Returns the view of a folder. @param path the folder and its ancestors, nearest first */
function viewOf(path: readonly FolderRecord[], subFolders: readonly FolderView[] | null): FolderView {
  const [record, ...above] = path as readonly [FolderRecord, ...FolderRecord[]]
  return {
    record,
    accessType: effectiveAccessType(path),
    ancestors: [rootFolderId, ...above.map(({ folderId }) => folderId).toReversed()],
    subFolders,
  }
}
