import { useState } from 'preact/hooks'
import { useApi } from '../calls.ts'
import { callForAll } from '../items.ts'
import { Effective } from '../rights/effective.tsx'
import { Granted } from '../rights/granted.tsx'
import type { Resource } from '../rights/rights.ts'
import { go } from '../route.ts'
import { Ask } from '../ui/ask.tsx'
import { AccessForm } from './access-form.tsx'
import { Documents } from './documents.tsx'
import { MoveForm, NameForm, NewFolder } from './folder-forms.tsx'
import { type Folder, nameOf, pathOf, places, root } from './tree.ts'

export interface PlaceProps {
  readonly organizationId: string
  readonly folders: readonly Folder[]
  /** Folders have changed. */
  readonly onChange: () => void
}

/** What is in no folder, and what concerns the organization as a whole. */
export const TopPlace = (props: PlaceProps) => (
  <>
    <h2>Documents in no folder</h2>
    <Documents {...props} folderId={root} />
    <NewFolder {...props} parent={root} />
    <Permissions
      resource={{ type: 'organization', id: props.organizationId, organizationId: props.organizationId }}
    />
  </>
)

export function FolderPlace({ folder, ...props }: PlaceProps & { readonly folder: Folder }) {
  const { organizationId, folders, onChange } = props
  const { folderId, parentFolderId } = folder
  const api = useApi()
  const update = async (change: object): Promise<void> => {
    const changed = [{ folderId, ...change }]
    await callForAll(api, '/v1/organizations/folders/update', { organizationId, folders: changed })
    onChange()
  }
  const remove = async () => {
    await api.call('/v2/organizations/folders/delete', { organizationId, folderId })
    go('folders', organizationId)
    onChange()
  }
  return (
    <>
      <h2>{pathOf(folders, folder)}</h2>
      <Documents {...props} folderId={folderId} />
      <NewFolder {...props} parent={folderId} />
      <section class="card" aria-label="This folder">
        <h3>This folder</h3>
        <NameForm name={folder.folderName} onName={(folderName) => update({ folderName })} />
        <MoveForm
          label="Folder it is in"
          value={parentFolderId}
          places={places(folders, folderId)}
          onMove={(to) => update({ parentFolderId: to })}
        />
        <AccessForm
          accessType={folder.accessType}
          inherits={folder.inheritAccessFromParent}
          onAccess={async (access) => {
            const data = { organizationId, folderIds: [folderId], ...access }
            await callForAll(api, '/v2/organizations/folders/access/update', data)
            onChange()
          }}
        />
        <Ask action="Delete folder" title={`Delete ${nameOf(folder)}?`} act={remove}>
          <p>
            Everything in it goes with it: all folders below it, and all documents in these with their content
            and history. Who is connected to one of them is disconnected for good. It cannot be undone.
          </p>
        </Ask>
      </section>
      <Permissions resource={{ type: 'folder', id: folderId, organizationId }} />
    </>
  )
}

export function Permissions({ resource }: { readonly resource: Resource }) {
  const [count, setCount] = useState(0)
  return (
    <section aria-label="Permissions">
      <h2>Permissions</h2>
      <Granted resource={resource} onChange={() => setCount((before) => before + 1)} />
      <Effective resource={resource} count={count} />
    </section>
  )
}
