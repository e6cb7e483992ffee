import { useState } from 'preact/hooks'
import type { OrganizationsDocumentsGetDataItem } from '../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { Button, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { formatCounted } from '../ui/format.ts'
import { ActionOutcome } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import { type Folder, moveTargets, root } from './folder-names.ts'

interface DocumentsProps {
  readonly organizationId: string
  readonly folders: readonly Folder[]
  readonly folderId: string
}

/** Maximum number of documents that one call moves. */
const movedMax = 500

/** Lists the documents that are directly in a folder. The user can select documents and move them. */
export function FolderDocuments({ organizationId, folders, folderId }: DocumentsProps) {
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
