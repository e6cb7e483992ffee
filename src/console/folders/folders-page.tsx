import { useQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { DocumentPermissions } from './document-permissions.tsx'
import { FolderDetail, TopLevelFolders } from './folder-detail.tsx'
import { type Folder, foldersByParent, root } from './folder-names.ts'
import { FolderBranch } from './folder-tree.tsx'

/**
 * Shows the page `#/folders/{organization}`, `#/folders/{organization}/f/{folder}` or
 * `#/folders/{organization}/d/{document}`.
 */
export default function FoldersPage({ rest }: PageProps) {
  return (
    <>
      <h1>Folders and permissions</h1>
      <WithOrganization section="folders" rest={rest}>
        {(organizationId, [kind, id]) => <Explorer organizationId={organizationId} kind={kind} id={id} />}
      </WithOrganization>
    </>
  )
}

interface ExplorerProps {
  readonly organizationId: string
  readonly kind: string | undefined
  readonly id: string | undefined
}

function Explorer({ organizationId, kind, id }: ExplorerProps) {
  const { data, error, reload } = useQuery<readonly Folder[]>('/v2/organizations/folders/get', {
    organizationId,
  })
  const folders = data ?? []
  const folder = kind === 'f' ? folders.find(({ folderId }) => folderId === id) : undefined
  const shared = { organizationId, folders, onChange: reload }
  return (
    <div class="beside">
      <nav aria-label="Folders" class="card">
        <a
          href={href('folders', organizationId)}
          class={kind === undefined ? 'here' : undefined}
          aria-current={kind === undefined ? 'page' : undefined}
        >
          All of {organizationId}
        </a>
        <FolderBranch
          // With a new key, a new tree is created, in which the parents of the current folder are open.
          key={data === null ? '' : `${id}`}
          organizationId={organizationId}
          byParent={foldersByParent(folders)}
          parent={root}
          current={kind === 'f' ? (id ?? '') : ''}
          open={folder === undefined ? [] : [...folder.ancestors, folder.folderId]}
        />
      </nav>
      <div>
        <ErrorNotice error={error} />
        {kind === undefined && <TopLevelFolders {...shared} />}
        {folder !== undefined && <FolderDetail key={id} {...shared} folder={folder} />}
        {kind === 'f' && folder === undefined && data !== null && <p>This folder does not exist any more.</p>}
        {kind === 'd' && id !== undefined && <DocumentPermissions key={id} {...shared} documentId={id} />}
      </div>
    </div>
  )
}
