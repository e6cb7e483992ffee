import type { WorkspaceDeletedGetDataItem } from '../../client/api/operation-types.ts'
import { useApi, usePagedQuery } from '../api/hooks.ts'
import { LocalTime } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { PagedTable } from '../ui/table.tsx'

const path = '/v2/workspace/deleted'

/** Shows the page `#/deleted`, which lists the deletions that can be restored. */
export default function DeletedPage() {
  const api = useApi()
  const listing = usePagedQuery<WorkspaceDeletedGetDataItem>(`${path}/get`, {})
  const end = async (how: 'restore' | 'purge', deletionId: string) => {
    await api.call(`${path}/${how}`, { deletionId })
    listing.reload()
  }
  return (
    <>
      <h1>Deleted</h1>
      <p class="hint">Everything in a deleted resource is restored with it.</p>
      <PagedTable
        caption="Deleted"
        listing={listing}
        keyOf={({ deletionId }) => deletionId}
        empty="There is nothing to restore."
        columns={[
          { title: 'Type', cell: ({ type }) => type },
          { title: 'Id', cell: ({ id, name }) => `${id}${name === '' ? '' : ` (${name})`}` },
          { title: 'Document', cell: ({ documentId }) => documentId ?? '' },
          { title: 'Organization', cell: ({ organizationId }) => organizationId },
          { title: 'Deleted', cell: ({ deletedAt }) => <LocalTime at={deletedAt} /> },
          { title: 'Until', cell: ({ expiresAt }) => <LocalTime at={expiresAt} /> },
          {
            title: '',
            cell: ({ deletionId, id }) => (
              <div class="row">
                <ConfirmButton
                  action="Restore"
                  label={`Restore ${id}`}
                  title={`Restore ${id}?`}
                  act={() => end('restore', deletionId)}
                >
                  <p>It gets its id, its content and its permissions back.</p>
                </ConfirmButton>
                <ConfirmButton
                  action="Purge"
                  label={`Purge ${id}`}
                  title={`Purge ${id}?`}
                  act={() => end('purge', deletionId)}
                >
                  <p>Afterwards it cannot be restored.</p>
                </ConfirmButton>
              </div>
            ),
          },
        ]}
      />
    </>
  )
}
