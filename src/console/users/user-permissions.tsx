import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { usePagedQuery, useQuery } from '../api/hooks.ts'
import { type Folder, folderName } from '../folders/folder-names.ts'
import { ExpiryLabel, usePermissions } from '../permissions/effective-permissions.tsx'
import { describePermission, type PermissionEntry } from '../permissions/permission.ts'
import { href } from '../routing/route.ts'
import { Button } from '../ui/controls.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'

export interface UserProps {
  readonly organizationId: string
  readonly userId: string
}

interface Row {
  readonly key: string
  readonly what: string
  readonly name: string
  readonly to: string
  readonly right: PermissionEntry | undefined
}

/** Maximum number of resources in one call. */
const askedMax = 500

/**
 * Shows the effective roles of one user in the organization, in its folders, and on its documents. The
 * documents are read page by page.
 */
export function UserPermissionsView({ organizationId, userId }: UserProps) {
  const folders = useQuery<readonly Folder[]>('/v2/organizations/folders/get', { organizationId })
  const documents = usePagedQuery<OrganizationsDocumentsGetDataItem>(
    '/v2/organizations/documents/get',
    { organizationId },
    { size: { pageSize: 20 } },
  )
  const shownFolders = (folders.data ?? []).slice(0, askedMax)
  const shownDocuments = documents.items.slice(0, askedMax)
  const rights = usePermissions({
    organizationId,
    userIds: [userId],
    folderIds: shownFolders.map(({ folderId }) => folderId),
    documentIds: shownDocuments.map(({ id }) => id),
  })
  const of = rights.data?.[userId]
  const rows: readonly Row[] = [
    {
      key: 'organization',
      what: 'Organization',
      name: organizationId,
      to: href('folders', organizationId),
      right: of?.organization[organizationId],
    },
    ...shownFolders.map((folder) => ({
      key: `f ${folder.folderId}`,
      what: 'Folder',
      name: folderName(folder),
      to: href('folders', organizationId, 'f', folder.folderId),
      right: of?.folders[folder.folderId],
    })),
    ...shownDocuments.map(({ id, documentName }) => ({
      key: `d ${id}`,
      what: 'Document',
      name: documentName === '' ? id : documentName,
      to: href('folders', organizationId, 'd', id),
      right: of?.documents[id],
    })),
  ]
  return (
    <section aria-label="Rights">
      <h3>Rights</h3>
      <p class="hint">
        Effective permissions, from grants to the user and the user’s groups, and from access types.
      </p>
      <ErrorNotice error={rights.error ?? folders.error ?? documents.error} />
      <Table
        caption="Rights"
        items={rows}
        keyOf={({ key }) => key}
        columns={[
          { title: 'On', cell: ({ what, name, to }) => <On what={what} name={name} to={to} /> },
          { title: 'May', cell: ({ right }) => describePermission(right) },
          { title: 'Until', cell: ({ right }) => <ExpiryLabel of={right} /> },
        ]}
      />
      {documents.more !== null && shownDocuments.length < askedMax && (
        <p>
          <Button onClick={documents.more}>More documents</Button>
        </p>
      )}
    </section>
  )
}

const On = ({ what, name, to }: Pick<Row, 'what' | 'name' | 'to'>) => (
  <>
    <span class="tag">{what}</span> <a href={to}>{name}</a>
  </>
)
