import { subfolderIds, treeChanged } from './folder-tree.ts'
import { inSlices } from './items.ts'
import { keys, type OrganizationScope, type Resource } from './organization-keys.ts'
import type { OrganizationStore } from './organization-store.ts'
import type { FolderRecord } from './records.ts'

/** Documents of a folder, and folders, in one slice. */
const sliceSize = 50

interface Steps {
  /** Between slices; throws when the work must not go on. */
  goOn(): Promise<void>
  removeDocuments(documentIds: readonly string[]): Promise<void>
  removeGrants(resource: Resource): Promise<void>
}

/**
 * Removes a folder that is marked as being deleted, with all that is below it, and itself last: until then whatever is
 * left hangs together, is found again after a crash, and has no more access to it than before.
 */
export async function removeFolder(
  store: OrganizationStore,
  { scope, folderId }: { scope: OrganizationScope; folderId: string },
  steps: Steps,
): Promise<void> {
  const folder = await store.read(scope).get<FolderRecord>(keys.folder(folderId))
  if (folder?.deleting !== true) return
  const upwards = (await folderAndBelow(store, scope, folderId)).toReversed()
  for (let at = 0; at < upwards.length; at += sliceSize) {
    const slice = upwards.slice(at, at + sliceSize)
    for (const id of slice) await emptyFolder(store, scope, id, steps)
    await inSlices(slice, (id) => steps.removeGrants({ type: 'folder', id }))
    await removeRecords(store, scope, slice)
    await steps.goOn()
  }
}

/** Parents before those in them. */
async function folderAndBelow(
  store: OrganizationStore,
  scope: OrganizationScope,
  folderId: string,
): Promise<readonly string[]> {
  const all: string[] = []
  const reader = store.read(scope)
  for (let level: readonly string[] = [folderId]; level.length > 0; ) {
    all.push(...level)
    level = (await inSlices(level, (id) => subfolderIds(reader, id))).flat()
  }
  return all
}

async function emptyFolder(
  store: OrganizationStore,
  scope: OrganizationScope,
  folderId: string,
  steps: Steps,
): Promise<void> {
  for (;;) {
    const entries = await store.read(scope).scan({ prefix: keys.documentsIn(folderId), limit: sliceSize })
    if (entries.length === 0) return
    await steps.removeDocuments(entries.map(({ key }) => key.at(-1) as string))
  }
}

/** One that an earlier attempt has removed is not counted again. */
const removeRecords = (
  store: OrganizationStore,
  scope: OrganizationScope,
  folderIds: readonly string[],
): Promise<void> =>
  store.carryOut(scope, async (transaction) => {
    const found = await transaction.getAll<FolderRecord>(folderIds.map(keys.folder))
    const folders = found.filter((folder) => folder !== null)
    for (const { folderId, parentFolderId } of folders) {
      transaction.delete(keys.folder(folderId))
      transaction.delete(keys.folderIn(parentFolderId, folderId))
    }
    if (folders.length > 0) await treeChanged(transaction, -folders.length)
  })
