import { useState } from 'preact/hooks'
import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, useQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { WithOrganization } from '../routing/with-organization.tsx'
import { ErrorNotice, ReadState } from '../ui/notice.tsx'
import { FolderDetail, type FolderDetailProps, FolderPermissions, TopLevelFolders } from './folder-detail.tsx'
import { AccessForm, MoveForm } from './folder-forms.tsx'
import { type Folder, folderName, foldersByParent, moveTargets, root } from './folder-names.ts'

/** Shows the folder and the permissions of a document. */
function DocumentPermissions(props: FolderDetailProps & { readonly documentId: string }) {
  const { organizationId, documentId, folders } = props
  const api = useApi()
  const path = '/v2/organizations/documents/get'
  const { data, error, loading, reload } = useQuery<readonly OrganizationsDocumentsGetDataItem[]>(path, {
    organizationId,
    documentIds: [documentId],
  })
  if (data === null) return <ReadState error={error} loading={loading} />
  const [document] = data
  if (document === undefined) return <p>This document does not exist any more.</p>
  const documentIds = [documentId]
  const folderId = document.folderId === '' ? root : document.folderId
  return (
    <>
      <h2>{document.documentName === '' ? documentId : document.documentName}</h2>
      <p>
        <a href={href('documents', organizationId, documentId)}>Content and history</a>
      </p>
      <section class="card" aria-label="This document">
        <MoveForm
          value={folderId}
          places={moveTargets(folders)}
          onMove={async (to) => {
            await api.callBatch('/v2/organizations/documents/move', {
              organizationId,
              documentIds,
              folderId: to,
            })
            reload()
          }}
        />
        <AccessForm
          accessType={document.accessType}
          onAccess={async (access) => {
            const data = { organizationId, documentIds, ...access }
            await api.callBatch('/v2/organizations/documents/access/update', data)
            reload()
          }}
        />
      </section>
      <FolderPermissions resource={{ type: 'document', id: documentId, organizationId }} />
    </>
  )
}

interface BranchProps {
  readonly organizationId: string
  readonly byParent: ReadonlyMap<string, readonly Folder[]>
  readonly parent: string
  /** Id of the current folder; '' if the page shows another resource. */
  readonly current: string
  readonly open: readonly string[]
}

/** Shows the subfolders of one folder. A subfolder opens when the user clicks it. */
function FolderBranch(props: BranchProps) {
  const folders = props.byParent.get(props.parent) ?? []
  return (
    <ul class={props.parent === root ? 'tree' : undefined}>
      {folders.map((folder) => (
        <Node key={folder.folderId} folder={folder} {...props} />
      ))}
    </ul>
  )
}

function Node({ folder, ...branch }: BranchProps & { readonly folder: Folder }) {
  const { folderId } = folder
  const [isOpen, setOpen] = useState(branch.open.includes(folderId))
  const hasFolders = branch.byParent.has(folderId)
  return (
    <li>
      <span class="node">
        {hasFolders ? (
          <button
            type="button"
            class="twist"
            aria-expanded={isOpen}
            aria-label={`Folders in ${folderName(folder)}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? '▾' : '▸'}
          </button>
        ) : (
          <span class="twist" />
        )}
        <a
          href={href('folders', branch.organizationId, 'f', folderId)}
          class={branch.current === folderId ? 'here' : undefined}
          aria-current={branch.current === folderId ? 'page' : undefined}
        >
          {folderName(folder)}
        </a>
      </span>
      {isOpen && hasFolders && <FolderBranch {...branch} parent={folderId} />}
    </li>
  )
}

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
