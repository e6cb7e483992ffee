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
 * Maximum number of attempts to read a document. If the folder of the document is missing, either the
 * document is being removed, or it was moved during the read. Another attempt distinguishes the two cases.
 */
const attemptsMax = 3

/**
 * Result of the question whether a document exists. A document may exist without records, because its content
 * may be written before its records.
 */
type DocumentExistence =
  | {
      readonly state: 'there'
      readonly organization: OrganizationRecord | null
      readonly document: DocumentRecord | null
    }
  /** The document, an ancestor folder or the organization is being deleted. */
  | { readonly state: 'going' }

/** Returns whether a document exists. This takes one read, plus one read for each ancestor folder. */
export async function readExistence(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentId: string,
): Promise<DocumentExistence> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const reader = store.read(scope)
    const documentKey = keys.document(documentId)
    // Fetches both records in one read. The reader caches them for the next two lines.
    await reader.getAll([keys.organization, documentKey])
    const organization = await reader.get(keys.organization, organizationRecordType)
    const document = await reader.get(documentKey, documentRecordType)
    if (organization?.deleting === true || document?.deleting === true) break
    if ((await folderPath(reader, document?.folderId ?? rootFolderId)) !== null)
      return { state: 'there', organization, document }
  }
  return { state: 'going' }
}
