import { keys, rootFolderId } from '../organizations/organization-keys.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import { patchOthers, patchRecord } from '../store/patch-record.ts'
import {
  type AccessType,
  type DocumentRecord,
  deletionMark,
  documentRecordType,
  emptyValue,
  type FolderRecord,
  type Metadata,
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { accessTypeIn, folderExists, folderPath } from './folder-tree.ts'

/**
 * Members of a new document. Absent members are empty. By default, the document is in no folder and inherits
 * its access type.
 */
export interface DocumentInput {
  readonly documentId: string
  readonly documentName?: string | undefined
  readonly folderId?: string | undefined
  readonly accessType?: AccessType | undefined
  readonly metadata?: Metadata | undefined
  /** Changes of other members; null removes one. */
  readonly others?: Metadata | undefined
}

/**
 * Changes of a document. Absent members stay unchanged. A different folder id moves the document; `root`
 * moves it out of all folders.
 */
export interface DocumentRecordPatch extends DocumentInput {
  /** If true, no user may open or change the document. */
  readonly disabled?: boolean | undefined
}

export interface DocumentWriteOptions {
  /** Time of the change, in epoch milliseconds. */
  readonly now: number
  /** The access type of new documents and folders that neither set nor inherit an access type. */
  readonly defaultAccess: AccessType
}

export async function writeNewDocuments(
  transaction: Transaction,
  documents: readonly DocumentInput[],
  { now, defaultAccess }: DocumentWriteOptions,
): Promise<BatchResults> {
  await transaction.getAll(documents.map(({ documentId }) => keys.document(documentId)))
  return forEachItem(documents, 'documentId', async (document) => {
    const existing = await transaction.get(keys.document(document.documentId), documentRecordType)
    if (existing !== null) throw await cannotAdd(transaction, existing)
    const above = await foldersAbove(transaction, document.folderId)
    const { accessType = accessTypeIn(above, defaultAccess) } = document
    putDocument(transaction, newDocument({ ...document, accessType }, now))
    return 'added'
  })
}

/** A new document with the access type to store. Null: the document inherits its access type. */
type NewDocument = Omit<DocumentInput, 'accessType'> & { readonly accessType: AccessType | null }

export function newDocument(
  { documentId, documentName = '', folderId = rootFolderId, accessType, metadata = {}, others }: NewDocument,
  now: number,
): DocumentRecord {
  const kept = patchOthers({}, others)
  return {
    documentId,
    documentName,
    folderId,
    accessType,
    disabled: false,
    metadata,
    ...(kept !== undefined && { others: kept }),
    createdAt: now,
    lastUpdated: now,
  }
}

async function cannotAdd(transaction: Transaction, existing: DocumentRecord): Promise<ItemRejectedError> {
  const exists = await documentExists(transaction, existing)
  return exists
    ? new ItemRejectedError('document/exists', 'the document exists already')
    : new ItemRejectedError('document/being-deleted', 'the document is being deleted; try again')
}

/** Changes and moves documents. */
export async function writeDocumentPatches(
  transaction: Transaction,
  changes: readonly DocumentRecordPatch[],
  { now, defaultAccess }: DocumentWriteOptions,
): Promise<BatchResults> {
  await transaction.getAll(changes.map(({ documentId }) => keys.document(documentId)))
  return forEachItem(
    changes,
    'documentId',
    async ({ documentId, documentName, folderId, accessType, metadata, disabled, others: given }) => {
      const record = await existingDocument(transaction, documentId)
      const above = folderId === undefined ? null : await foldersAbove(transaction, folderId)
      const others = patchOthers(record.others, given)
      const changed = { documentName, folderId, accessType, metadata, disabled, others }
      const isMoved = above !== null && folderId !== record.folderId
      const inherited = isMoved && record.accessType === null ? accessTypeIn(above, defaultAccess) : null
      const before = inherited === null ? record : { ...record, accessType: inherited }
      putDocument(transaction, patchRecord<DocumentRecord>(before, changed, now), record)
      return 'updated'
    },
  )
}

/** Marks documents as being deleted. Their content is removed later. @param deletionId deletion that keeps it */
export async function markDocumentsDeleted(
  transaction: Transaction,
  documentIds: readonly string[],
  deletionId: string | undefined,
): Promise<BatchResults> {
  await transaction.getAll(documentIds.map(keys.document))
  return forEachItem(documentIds, null, async (id) => {
    const document = await existingDocument(transaction, id)
    transaction.put(keys.document(id), { ...document, ...deletionMark(deletionId) })
    return 'deleted'
  })
}

/**
 * Returns whether a document exists. Returns false if the document or a folder that contains it is being
 * deleted.
 */
export async function documentExists(
  transaction: Transaction,
  { folderId, deleting }: Pick<DocumentRecord, 'folderId' | 'deleting'>,
): Promise<boolean> {
  return deleting !== true && (await folderExists(transaction, folderId))
}

async function existingDocument(transaction: Transaction, documentId: string): Promise<DocumentRecord> {
  const record = await transaction.get(keys.document(documentId), documentRecordType)
  if (record === null || !(await documentExists(transaction, record)))
    throw new ItemRejectedError('document/not-found', 'the document does not exist')
  return record
}

async function foldersAbove(
  transaction: Transaction,
  folderId = rootFolderId,
): Promise<readonly FolderRecord[]> {
  const path = await folderPath(transaction, folderId)
  if (path === null) throw new ItemRejectedError('folder/not-found', 'the folder does not exist')
  return path
}

/** Writes a document and its index entry. */
export function putDocument(
  transaction: Transaction,
  document: DocumentRecord,
  before?: DocumentRecord,
): void {
  const { documentId, folderId } = document
  transaction.put(keys.document(documentId), document)
  if (before?.folderId === folderId) return
  if (before !== undefined) transaction.delete(keys.documentIn(before.folderId, documentId))
  transaction.put(keys.documentIn(folderId, documentId), emptyValue)
}
