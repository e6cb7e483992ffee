import { lastSegment } from '../../store/key-encoding.ts'
import { documentExists } from '../documents/document-writes.ts'
import { markTreeChanged, subfolderIds } from '../documents/folder-tree.ts'
import { keys, type OrganizationScope, type Resource } from '../organizations/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../organizations/organization-store.ts'
import { mapInSlices } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { deletableType, placedDocumentType, placedFolderType } from '../store/records.ts'

/** Maximum number of documents, or of folders, in one slice. */
const sliceSize = 50

interface Steps {
  /** Must be called between slices. Throws if the work must not continue. */
  goOn(): Promise<void>
  removeDocuments(documentIds: readonly string[]): Promise<void>
  removeGrants(resource: Resource): Promise<void>
}

/**
 * Removes a folder that is marked as being deleted, with everything below it. The folder itself is removed
 * last. Until then, the remaining contents still belong to the folder. Therefore they can be found after a
 * crash, and no user gains access to them.
 */
export async function removeFolder(
  store: OrganizationStore,
  { scope, folderId }: { scope: OrganizationScope; folderId: string },
  steps: Steps,
): Promise<void> {
  const isGoing = async (): Promise<boolean> => isMarked(store.read(scope), folderId)
  if (!(await isGoing())) return
  const upwards = (await folderAndBelow(store, scope, folderId)).toReversed()
  for (let at = 0; at < upwards.length; at += sliceSize) {
    const slice = upwards.slice(at, at + sliceSize)
    for (const id of slice) await emptyFolder(store, scope, id, { ...steps, isGoing })
    await mapInSlices(slice, (id) => steps.removeGrants({ type: 'folder', id }))
    await removeRecords(store, scope, { folderId, slice })
    await steps.goOn()
  }
}

/** Returns the folder and all folders below it. Parents precede their children. */
async function folderAndBelow(
  store: OrganizationStore,
  scope: OrganizationScope,
  folderId: string,
): Promise<readonly string[]> {
  const all: string[] = []
  const reader = store.read(scope)
  for (let level: readonly string[] = [folderId]; level.length > 0; ) {
    all.push(...level)
    level = (await mapInSlices(level, (id) => subfolderIds(reader, id))).flat()
  }
  return all
}

async function emptyFolder(
  store: OrganizationStore,
  scope: OrganizationScope,
  folderId: string,
  steps: Steps & { isGoing(): Promise<boolean> },
): Promise<void> {
  while (await steps.isGoing()) {
    const entries = await store.read(scope).scan({ prefix: keys.documentsIn(folderId), limit: sliceSize })
    if (entries.length === 0) return
    const documentIds = entries.map(({ key }) => lastSegment(key))
    await markDocuments(store, scope, documentIds)
    await steps.removeDocuments(documentIds)
  }
}

/** Marks documents as being deleted. Each of them then has its own event of the deletion. */
function markDocuments(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentIds: readonly string[],
): Promise<void> {
  return store.change(scope, async (transaction) => {
    const records = await transaction.getAll(documentIds.map(keys.document), placedDocumentType)
    for (const record of records) {
      if (record === null || record.deleting === true || (await documentExists(transaction, record))) continue
      transaction.put(keys.document(record.documentId), { ...record, deleting: true })
    }
  })
}

/**
 * Returns whether a folder is marked as being deleted. Returns false if the organization is deleted or being
 * deleted: the removal of the organization includes the folder, and a folder with the same id may be created
 * again later.
 */
async function isMarked(transaction: DirectoryReader, folderId: string): Promise<boolean> {
  if ((await findOrganization(transaction)) === null) return false
  return (await transaction.get(keys.folder(folderId), deletableType))?.deleting === true
}

/**
 * Removes the records of a slice of folders. Does not count records that an earlier attempt has already
 * removed.
 */
const removeRecords = (
  store: OrganizationStore,
  scope: OrganizationScope,
  { folderId, slice }: { folderId: string; slice: readonly string[] },
): Promise<void> =>
  store.carryOut(scope, async (transaction) => {
    if (!(await isMarked(transaction, folderId))) return
    const found = await transaction.getAll(slice.map(keys.folder), placedFolderType)
    const folders = found.filter((folder) => folder !== null)
    for (const { folderId, parentFolderId } of folders) {
      transaction.delete(keys.folder(folderId))
      transaction.delete(keys.folderIn(parentFolderId, folderId))
    }
    if (folders.length > 0) await markTreeChanged(transaction, -folders.length)
  })
