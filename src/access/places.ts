import type { AccessPlace } from '../directory/folder-tree.ts'
import type { OrganizationScope, Resource } from '../directory/organization-keys.ts'
import type { DocumentRecord, FolderRecord } from '../directory/records.ts'

/** A resource as far as it matters for access. */
export interface Place extends AccessPlace {
  readonly resource: Resource
}

export const documentPlace = (documentId: string, record: DocumentRecord | null): Place => ({
  resource: { type: 'document', id: documentId },
  accessType: record?.accessType ?? null,
  inheritAccessFromParent: true,
})

export const organizationPlace = ({ organizationId }: OrganizationScope): Place => ({
  resource: { type: 'organization', id: organizationId },
  accessType: null,
  inheritAccessFromParent: true,
})

export const folderPlace = ({ folderId, accessType, inheritAccessFromParent }: FolderRecord): Place => ({
  resource: { type: 'folder', id: folderId },
  accessType,
  inheritAccessFromParent,
})
