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
 * A document whose folder is missing is being removed, or was moved during the read. A second read
 * distinguishes the two.
 */
const attemptsMax = 3

/** Whether a document exists. It exists also without records: content may precede them. */
export type DocumentExistence =
  | {
      readonly state: 'there'
      readonly organization: OrganizationRecord | null
      readonly document: DocumentRecord | null
    }
  /** The document, its folder or its organization is being deleted. */
  | { readonly state: 'going' }

/** Takes one read, and one for each ancestor folder. */
export async function readExistence(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentId: string,
): Promise<DocumentExistence> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const reader = store.read(scope)
    const documentKey = keys.document(documentId)
    // One read for both; the reader caches them.
    await reader.getAll([keys.organization, documentKey])
    const organization = await reader.get(keys.organization, organizationRecordType)
    const document = await reader.get(documentKey, documentRecordType)
    if (organization?.deleting === true || document?.deleting === true) break
    if ((await folderPath(reader, document?.folderId ?? rootFolderId)) !== null)
      return { state: 'there', organization, document }
  }
  return { state: 'going' }
}
