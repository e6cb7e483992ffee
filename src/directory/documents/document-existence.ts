import { keys, type OrganizationScope, rootFolderId } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import type { DocumentRecord, OrganizationRecord } from '../store/records.ts'
import { folderPath } from './folder-tree.ts'

/** A document whose folder is gone is being removed, or was moved while it was read: the latter shows when read again. */
const attemptsMax = 3

/** Is there a document? Also without records: content may come before them. */
export type DocumentExistence =
  | {
      readonly state: 'there'
      readonly organization: OrganizationRecord | null
      readonly document: DocumentRecord | null
    }
  /** It is being deleted, itself, with its folder or with its organization. */
  | { readonly state: 'going' }

/** One read, and one for each folder that it is in. */
export async function readExistence(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentId: string,
): Promise<DocumentExistence> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const reader = store.read(scope)
    const wanted = [keys.organization, keys.document(documentId)]
    const found = await reader.getAll<OrganizationRecord | DocumentRecord>(wanted)
    const [organization, document] = found as [OrganizationRecord | null, DocumentRecord | null]
    if (organization?.deleting === true || document?.deleting === true) break
    if ((await folderPath(reader, document?.folderId ?? rootFolderId)) !== null)
      return { state: 'there', organization, document }
  }
  return { state: 'going' }
}
