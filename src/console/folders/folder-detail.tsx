import { useState } from 'preact/hooks'
import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { DirectGrants } from '../permissions/direct-grants.tsx'
import { EffectivePermissions } from '../permissions/effective-permissions.tsx'
import type { ConsoleResource } from '../permissions/permission.ts'
import { href, navigate } from '../routing/route.ts'
import { Button, LocalTime, Select } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { formatCounted } from '../ui/format.ts'
import { ActionOutcome } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { AccessForm, MoveForm, NameForm, NewFolder } from './folder-forms.tsx'
import { type Folder, folderName, folderPathText, moveTargets, root } from './folder-names.ts'

interface DocumentsProps {
  readonly organizationId: string
  readonly folders: readonly Folder[]
  readonly folderId: string
}

/** Maximum number of documents that one call moves. */
const movedMax = 500

/** Lists the documents that are directly in a folder. The user can select documents and move them. */
function FolderDocuments({ organizationId, folders, folderId }: DocumentsProps) {
  const api = useApi()
  const listing = usePagedQuery<OrganizationsDocumentsGetDataItem>('/v2/organizations/documents/get', {
    organizationId,
    folderId,
  })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [to, setTo] = useState(root)
  const toggle = (id: string, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  const move = useAction(async () => {
    const documentIds = [...chosen].slice(0, movedMax)
    await api.callBatch('/v2/organizations/documents/move', { organizationId, documentIds, folderId: to })
    setChosen(new Set())
    listing.reload()
    return `${formatCounted(documentIds.length, 'document')} moved.`
  })
  return (
    <>
      <PagedTable
        caption="Documents"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No documents here."
        columns={[
          {
            title: 'Move',
            cell: ({ id }) => (
              <input
                type="checkbox"
                aria-label={`Choose ${id}`}
                checked={chosen.has(id)}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
            ),
          },
          {
            title: 'Document',
            cell: ({ id, documentName }) => (
              <a href={href('folders', organizationId, 'd', id)}>{documentName === '' ? id : documentName}</a>
            ),
          },
          { title: 'Access', cell: ({ accessType }) => accessType },
          { title: 'Changed', cell: ({ lastUpdated }) => <LocalTime at={lastUpdated} /> },
        ]}
      />
      {chosen.size > 0 && (
        <Form label="Move documents" inline onSubmit={() => void move.run()}>
          <Select label="Move to" value={to} options={moveTargets(folders)} onChange={setTo} />
          <Button kind="primary" type="submit" busy={move.busy}>
            Move {formatCounted(chosen.size, 'document')}
          </Button>
        </Form>
      )}
      <ActionOutcome {...move} />
    </>
  )
}

export interface FolderDetailProps {
  readonly organizationId: string
  readonly folders: readonly Folder[]
  /** Called after a folder was changed. */
  readonly onChange: () => void
}

/** Shows the documents that are in no folder, and the permissions on the whole organization. */
export const TopLevelFolders = (props: FolderDetailProps) => (
  <>
    <h2>Documents in no folder</h2>
    <FolderDocuments {...props} folderId={root} />
    <NewFolder {...props} parent={root} />
    <FolderPermissions
      resource={{ type: 'organization', id: props.organizationId, organizationId: props.organizationId }}
    />
  </>
)

export function FolderDetail({ folder, ...props }: FolderDetailProps & { readonly folder: Folder }) {
  const { organizationId, folders, onChange } = props
  const { folderId, parentFolderId } = folder
  const api = useApi()
  const update = async (change: object): Promise<void> => {
    const changed = [{ folderId, ...change }]
    await api.callBatch('/v1/organizations/folders/update', { organizationId, folders: changed })
    onChange()
  }
  const remove = async () => {
    await api.call('/v2/organizations/folders/delete', { organizationId, folderId })
    navigate('folders', organizationId)
    onChange()
  }
  return (
    <>
      <h2>{folderPathText(folders, folder)}</h2>
      <FolderDocuments {...props} folderId={folderId} />
      <NewFolder {...props} parent={folderId} />
      <section class="card" aria-label="This folder">
        <h3>This folder</h3>
        <NameForm name={folder.folderName} onName={(folderName) => update({ folderName })} />
        <MoveForm
          value={parentFolderId}
          places={moveTargets(folders, folderId)}
          onMove={(to) => update({ parentFolderId: to })}
        />
        <AccessForm
          accessType={folder.accessType}
          inherits={folder.inheritAccessFromParent}
          onAccess={async (access) => {
            const data = { organizationId, folderIds: [folderId], ...access }
            await api.callBatch('/v2/organizations/folders/access/update', data)
            onChange()
          }}
        />
        <ConfirmButton action="Delete folder" title={`Delete ${folderName(folder)}?`} act={remove}>
          <p>
            This deletes all its subfolders and all documents in them, with their content and history, and
            disconnects their users.
          </p>
        </ConfirmButton>
      </section>
      <FolderPermissions resource={{ type: 'folder', id: folderId, organizationId }} />
    </>
  )
}

export function FolderPermissions({ resource }: { readonly resource: ConsoleResource }) {
  const [count, setCount] = useState(0)
  return (
    <section aria-label="Permissions">
      <h2>Permissions</h2>
      <DirectGrants resource={resource} onChange={() => setCount((before) => before + 1)} />
      <EffectivePermissions resource={resource} count={count} />
    </section>
  )
}
