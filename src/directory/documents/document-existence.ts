import { keys, type OrganizationScope, rootFolderId } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import {
  type DocumentRecord,
  documentRecordType,
  type OrganizationRecord,
  organizationRecordType,
} from '../store/records.ts'
import { folderPath } from './folder-tree.ts'

/**
 * Maximum number of attempts to read a document. If its folder is missing, the document is being removed, or
 * was moved during the read; another attempt distinguishes the two cases.
 */
const attemptsMax = 3

/**
 * Whether a document exists. A document may exist without records, because its content may be written before
 * them.
 */
export type DocumentExistence =
  | {
      readonly state: 'there'
      readonly organization: OrganizationRecord | null
      readonly document: DocumentRecord | null
    }
  /** The document, an ancestor folder or its organization is being deleted. */
  | { readonly state: 'going' }

/** Returns whether a document exists. Takes one read, and one more for each ancestor folder. */
export async function readExistence(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentId: string,
): Promise<DocumentExistence> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const reader = store.read(scope)
    const documentKey = keys.document(documentId)
    // Reads both records in one read; the reader caches them.
    await reader.getAll([keys.organization, documentKey])
    const organization = await reader.get(keys.organization, organizationRecordType)
    const document = await reader.get(documentKey, documentRecordType)
    if (organization?.deleting === true || document?.deleting === true) break
    if ((await folderPath(reader, document?.folderId ?? rootFolderId)) !== null)
      return { state: 'there', organization, document }
  }
  return { state: 'going' }
}
