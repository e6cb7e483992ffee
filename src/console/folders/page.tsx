import { useCall } from '../calls.ts'
import { InOrganization } from '../organization.tsx'
import { href, type PageProps } from '../route.ts'
import { Problem } from '../ui/notice.tsx'
import { DocumentPlace } from './document.tsx'
import { FolderPlace, TopPlace } from './folder.tsx'
import { Branch } from './folder-tree.tsx'
import { byParent, type Folder, root } from './tree.ts'

/** `#/folders/{organization}`, and behind it `f/{folder}` or `d/{document}`. */
export default function Page({ rest }: PageProps) {
  return (
    <>
      <h1>Folders and permissions</h1>
      <InOrganization section="folders" rest={rest}>
        {(organizationId, [kind, id]) => <Explorer organizationId={organizationId} kind={kind} id={id} />}
      </InOrganization>
    </>
  )
}

interface ExplorerProps {
  readonly organizationId: string
  readonly kind: string | undefined
  readonly id: string | undefined
}

function Explorer({ organizationId, kind, id }: ExplorerProps) {
  const { data, error, reload } = useCall<readonly Folder[]>('/v2/organizations/folders/get', {
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
        <Branch
          // Opened as far as it takes to see what is shown.
          key={data === null ? '' : `${id}`}
          organizationId={organizationId}
          byParent={byParent(folders)}
          parent={root}
          current={kind === 'f' ? (id ?? '') : ''}
          open={folder === undefined ? [] : [...folder.ancestors, folder.folderId]}
        />
      </nav>
      <div>
        <Problem error={error} />
        {kind === undefined && <TopPlace {...shared} />}
        {folder !== undefined && <FolderPlace key={id} {...shared} folder={folder} />}
        {kind === 'f' && folder === undefined && data !== null && <p>There is no such folder any more.</p>}
        {kind === 'd' && id !== undefined && <DocumentPlace key={id} {...shared} documentId={id} />}
      </div>
    </div>
  )
}
