import { folderPath } from './folder-tree.ts'
import { eachItem, ItemRefused, type Results } from './items.ts'
import { keys, rootFolderId } from './organization-keys.ts'
import { type AccessType, type DocumentRecord, type Metadata, present } from './records.ts'
import { touched } from './touched.ts'
import type { Transaction } from './transaction.ts'

/** What is not given is empty, in no folder and inherited. */
export interface DocumentToAdd {
  readonly documentId: string
  readonly documentName?: string | undefined
  readonly folderId?: string | undefined
  readonly accessType?: AccessType | undefined
  readonly metadata?: Metadata | undefined
}

/** What is not given stays. Another folder moves the document; `root`: to none. */
export interface DocumentChange extends DocumentToAdd {
  /** True: nobody may open or change it. */
  readonly disabled?: boolean | undefined
}

/** `now` is in epoch milliseconds. */
export async function addDocuments(
  transaction: Transaction,
  documents: readonly DocumentToAdd[],
  now: number,
): Promise<Results> {
  await transaction.getAll(documents.map(({ documentId }) => keys.document(documentId)))
  return eachItem(
    documents,
    ({ documentId }) => documentId,
    async (document) => {
      const existing = await transaction.get<DocumentRecord>(keys.document(document.documentId))
      if (existing !== null) throw await cannotAdd(transaction, existing)
      const record = newDocument(document, now)
      await checkFolder(transaction, record.folderId)
      putDocument(transaction, record)
      return 'added'
    },
  )
}

export function newDocument(
  { documentId, documentName = '', folderId = rootFolderId, accessType, metadata = {} }: DocumentToAdd,
  now: number,
): DocumentRecord {
  return {
    documentId,
    documentName,
    folderId,
    accessType: accessType ?? null,
    disabled: false,
    metadata,
    createdAt: now,
    lastUpdated: now,
  }
}

async function cannotAdd(transaction: Transaction, existing: DocumentRecord): Promise<ItemRefused> {
  const exists = await isThere(transaction, existing)
  return new ItemRefused(exists ? 'the document exists already' : 'the document is being deleted; try again')
}

/** Changes and moves documents. */
export async function updateDocuments(
  transaction: Transaction,
  changes: readonly DocumentChange[],
  now: number,
): Promise<Results> {
  await transaction.getAll(changes.map(({ documentId }) => keys.document(documentId)))
  return eachItem(
    changes,
    ({ documentId }) => documentId,
    async ({ documentId, documentName, folderId, accessType, metadata, disabled }) => {
      const record = await existingDocument(transaction, documentId)
      if (folderId !== undefined) await checkFolder(transaction, folderId)
      const changed = { documentName, folderId, accessType, metadata, disabled }
      putDocument(transaction, touched<DocumentRecord>(record, changed, now), record)
      return 'updated'
    },
  )
}

/** Marks documents as being deleted. */
export async function markDocuments(
  transaction: Transaction,
  documentIds: readonly string[],
): Promise<Results> {
  await transaction.getAll(documentIds.map(keys.document))
  return eachItem(
    documentIds,
    (id) => id,
    async (id) => {
      transaction.put(keys.document(id), { ...(await existingDocument(transaction, id)), deleting: true })
      return 'deleted'
    },
  )
}

/** False for one that is being deleted, itself or with its folder. */
export async function isThere(
  transaction: Transaction,
  { folderId, deleting }: DocumentRecord,
): Promise<boolean> {
  return deleting !== true && (await folderPath(transaction, folderId)) !== null
}

async function existingDocument(transaction: Transaction, documentId: string): Promise<DocumentRecord> {
  const record = await transaction.get<DocumentRecord>(keys.document(documentId))
  if (record === null || !(await isThere(transaction, record)))
    throw new ItemRefused('the document does not exist')
  return record
}

async function checkFolder(transaction: Transaction, folderId: string): Promise<void> {
  if ((await folderPath(transaction, folderId)) === null) throw new ItemRefused('the folder does not exist')
}

/** Writes a document and its place. */
export function putDocument(
  transaction: Transaction,
  document: DocumentRecord,
  before?: DocumentRecord,
): void {
  const { documentId, folderId } = document
  transaction.put(keys.document(documentId), document)
  if (before?.folderId === folderId) return
  if (before !== undefined) transaction.delete(keys.documentIn(before.folderId, documentId))
  transaction.put(keys.documentIn(folderId, documentId), present)
}
