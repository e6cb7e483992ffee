import { ApiError } from '../errors.ts'
import { effectiveAccessType, folderPath, subfolderIds } from './folder-tree.ts'
import { inSlices } from './items.ts'
import { directoryLimits } from './limits.ts'
import { keys, rootFolderId } from './organization-keys.ts'
import type { Reader } from './reader.ts'
import { type AccessType, decodeRecord, type FolderRecord } from './records.ts'

/** A folder as it is shown. */
export interface FolderView {
  readonly record: FolderRecord
  /** The type in effect, inherited or its own. */
  readonly accessType: AccessType
  /** From `root` down to the parent. */
  readonly ancestors: readonly string[]
  /** Null where nobody asked so deep. */
  readonly subFolders: readonly FolderView[] | null
}

export const noSuchFolder = (): ApiError => new ApiError('NOT_FOUND', 'the folder does not exist')

/** Every folder of the organization, in the order of their ids. */
export async function viewAll(reader: Reader): Promise<readonly FolderView[]> {
  const entries = await reader.scan({ prefix: keys.folders, limit: directoryLimits.folders })
  const records = entries.map(({ value }) => decodeRecord(value) as FolderRecord)
  const byId = new Map(records.map((record) => [record.folderId, record]))
  return records.flatMap((record) => {
    const path = pathIn(byId, record)
    return path === null ? [] : [viewOf(path, null)]
  })
}

/** A folder with those below it, down to `depth` (at least 1). @throws ApiError NOT_FOUND */
export async function viewBelow(reader: Reader, folderId: string, depth: number): Promise<FolderView> {
  const path = folderId === rootFolderId ? null : await folderPath(reader, folderId)
  if (path === null) throw noSuchFolder()
  return viewTree(reader, path, Math.min(depth, directoryLimits.folderDepth))
}

async function viewTree(reader: Reader, path: readonly FolderRecord[], depth: number): Promise<FolderView> {
  const [folder] = path
  if (folder === undefined || depth === 0) return viewOf(path, null)
  const ids = await subfolderIds(reader, folder.folderId)
  const records = await reader.getAll<FolderRecord>(ids.map(keys.folder))
  // One that has been moved away since the index was read is not in here any more.
  const inHere = records.filter((record) => record?.parentFolderId === folder.folderId && !record.deleting)
  const subFolders = await inSlices(inHere, (record) =>
    viewTree(reader, [record as FolderRecord, ...path], depth - 1),
  )
  return viewOf(path, subFolders)
}

/** Null for what is in a folder that is being deleted. */
function pathIn(
  byId: ReadonlyMap<string, FolderRecord>,
  record: FolderRecord,
): readonly FolderRecord[] | null {
  const path: FolderRecord[] = []
  for (let next: FolderRecord | undefined = record; ; next = byId.get(next.parentFolderId)) {
    if (next === undefined || next.deleting === true || path.length >= directoryLimits.folderDepth)
      return null
    path.push(next)
    if (next.parentFolderId === rootFolderId) return path
  }
}

/** @param path the folder, and those that it is in upwards */
function viewOf(path: readonly FolderRecord[], subFolders: readonly FolderView[] | null): FolderView {
  const [record, ...above] = path as readonly [FolderRecord, ...FolderRecord[]]
  return {
    record,
    accessType: effectiveAccessType(path),
    ancestors: [rootFolderId, ...above.map(({ folderId }) => folderId).toReversed()],
    subFolders,
  }
}
