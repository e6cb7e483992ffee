import { lastSegment } from '../../store/key-encoding.ts'
import { readRecord } from '../../store/stored-record.ts'
import { keys } from '../organizations/organization-keys.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import {
  filterItems,
  type ListPage,
  listEntries,
  listSlices,
  type PageRange,
  type Search,
  type StoredItem,
} from '../store/list-page.ts'
import { type AccessType, type DocumentRecord, documentRecordType } from '../store/records.ts'
import { effectiveAccessType, folderPath } from './folder-tree.ts'
import { noSuchFolder } from './folder-views.ts'

/** A document as the API returns it. */
export interface DocumentView {
  readonly record: DocumentRecord
  /** The effective access type: the access type of the document itself, or an inherited one. */
  readonly accessType: AccessType
}

export interface DocumentListing extends PageRange {
  /**
   * If set, lists only the documents that are directly in this folder. `root`: the documents that are in no
   * folder.
   */
  readonly folderId?: string | undefined
  /** If set, lists only documents whose id or name matches. */
  readonly search?: Search | undefined
}

/** Returns the existing documents, in the order of `documentIds`. */
export async function viewDocuments(
  reader: DirectoryReader,
  documentIds: readonly string[],
): Promise<readonly DocumentView[]> {
  const records = await reader.getAll(documentIds.map(keys.document), documentRecordType)
  return viewsOf(reader, records)
}

/**
 * Returns a page of documents, in the order of their ids. The page may have fewer items than requested.
 * @throws ApiError NOT_FOUND if the requested folder does not exist
 */
export async function listDocuments(
  reader: DirectoryReader,
  { folderId, search, ...range }: DocumentListing,
): Promise<ListPage<DocumentView>> {
  if (folderId !== undefined && (await folderPath(reader, folderId)) === null) throw noSuchFolder()
  const list = (part: PageRange) => listRecords(reader, folderId, part)
  const { items, next } =
    search === undefined
      ? await listSlices(list, range)
      : await filterItems(list, range, search, (record) =>
          search.isIn(record.documentId, record.documentName),
        )
  const records = items.map(({ record }) => record)
  return { items: await viewsOf(reader, records), next }
}

async function listRecords(
  reader: DirectoryReader,
  folderId: string | undefined,
  range: PageRange,
): Promise<ListPage<StoredItem<DocumentRecord>>> {
  const prefix = folderId === undefined ? keys.documents : keys.documentsIn(folderId)
  const { items, next } = await listEntries(reader, prefix, range)
  const ids = items.map(({ key }) => lastSegment(key))
  const records =
    folderId === undefined
      ? items.map((entry) => readRecord(documentRecordType, entry))
      : await reader.getAll(ids.map(keys.document), documentRecordType)
  return { items: ids.map((id, index) => ({ id, record: records[index] ?? null })), next }
}

/**
 * Returns the views of the documents. Leaves out documents that are being deleted, or that are in a folder
 * that is being deleted.
 */
async function viewsOf(
  reader: DirectoryReader,
  records: readonly (DocumentRecord | null)[],
): Promise<readonly DocumentView[]> {
  const views: DocumentView[] = []
  for (const record of records) {
    if (record === null || record.deleting === true) continue
    const path = await folderPath(reader, record.folderId)
    if (path === null) continue
    const own = { accessType: record.accessType, inheritAccessFromParent: true }
    views.push({ record, accessType: effectiveAccessType([own, ...path]) })
  }
  return views
}
