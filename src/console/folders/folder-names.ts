import type { OrganizationsFoldersGetDataItem } from '../../client/api/operation-types.ts'

export type Folder = OrganizationsFoldersGetDataItem

export const root = 'root'

export const folderName = ({ folderId, folderName }: Folder): string =>
  folderName === '' ? folderId : folderName

/** Returns the subfolders of each folder, by the id of their parent. The subfolders are ordered by name. */
export function foldersByParent(folders: readonly Folder[]): ReadonlyMap<string, readonly Folder[]> {
  const found = new Map<string, Folder[]>()
  for (const folder of folders) {
    const siblings = found.get(folder.parentFolderId)
    if (siblings === undefined) found.set(folder.parentFolderId, [folder])
    else siblings.push(folder)
  }
  for (const siblings of found.values()) siblings.sort((a, b) => folderName(a).localeCompare(folderName(b)))
  return found
}

/** Returns the path of a folder as text: the names of the folders that contain it, and its own name. */
export function folderPathText(folders: readonly Folder[], folder: Folder): string {
  const names = new Map(folders.map((each) => [each.folderId, folderName(each)]))
  const above = folder.ancestors.filter((id) => id !== root).map((id) => names.get(id) ?? id)
  return [...above, folderName(folder)].join(' / ')
}

/**
 * Returns the folders that can be the target of a move, as choices, ordered by path.
 * @param moved id of the folder to move, which cannot be moved into itself or into its subfolders
 */
export function moveTargets(
  folders: readonly Folder[],
  moved?: string,
): readonly (readonly [string, string])[] {
  const free = folders.filter(
    ({ folderId, ancestors }) => folderId !== moved && !ancestors.includes(moved ?? ''),
  )
  const named = free.map((folder) => [folder.folderId, folderPathText(folders, folder)] as const)
  return [[root, 'No folder: at the top'], ...named.sort(([, a], [, b]) => a.localeCompare(b))]
}
