import type { FolderAccess } from '../../directory/documents/folder-tree.ts'
import type { OrganizationScope, Resource } from '../../directory/organizations/organization-keys.ts'
import type { DocumentRecord, FolderRecord } from '../../directory/store/records.ts'

/** A resource, and the access settings that are stored for it. */
export interface AccessResource extends FolderAccess {
  readonly resource: Resource
}

export const documentResource = (
  documentId: string,
  { accessType }: Pick<DocumentRecord, 'accessType'>,
): AccessResource => ({
  resource: { type: 'document', id: documentId },
  accessType,
  inheritAccessFromParent: true,
})

export const organizationResource = ({ organizationId }: OrganizationScope): AccessResource => ({
  resource: { type: 'organization', id: organizationId },
  accessType: null,
  inheritAccessFromParent: true,
})

export const folderResource = ({
  folderId,
  accessType,
  inheritAccessFromParent,
}: FolderRecord): AccessResource => ({
  resource: { type: 'folder', id: folderId },
  accessType,
  inheritAccessFromParent,
})
