import { useState } from 'preact/hooks'
import type { EditorBranch } from '../../../client/api/operation-types.ts'
import { useApi, usePagedQuery } from '../../api/hooks.ts'
import { href } from '../../routing/route.ts'
import { Button, LocalTime, TextField } from '../../ui/controls.tsx'
import { ConfirmButton } from '../../ui/dialog.tsx'
import { ActionForm } from '../../ui/form.tsx'
import { PagedTable } from '../../ui/table.tsx'
import { consoleUser, type EditorAddress, type EditorViewProps } from '../editor.ts'
import { BranchReview } from './branch-review.tsx'

/** Lists the branches of an editor. The user can create, review and delete them. */
export function BranchesView({ address }: EditorViewProps) {
  const api = useApi()
  const listing = usePagedQuery<EditorBranch>('/v2/crdt/branches/list', address)
  const [reviewed, setReviewed] = useState<EditorBranch | null>(null)
  const close = () => setReviewed(null)
  const remove = async ({ name }: EditorBranch) => {
    await api.call('/v2/crdt/branches/delete', { ...address, name })
    close()
    listing.reload()
  }
  return (
    <>
      <h2>Branches</h2>
      <p>
        A branch is a copy of the editor that follows it. Its changes stay in the branch until you accept
        them.
      </p>
      <NewBranch address={address} onMade={listing.reload} />
      {reviewed !== null && (
        <BranchReview
          key={reviewed.name}
          address={address}
          branch={reviewed}
          onDecided={listing.reload}
          onClose={close}
        />
      )}
      <PagedTable
        caption="Branches"
        listing={listing}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Name', cell: (branch) => <BranchLink address={address} branch={branch} /> },
          { title: 'By', cell: ({ createdBy }) => createdBy || '–' },
          { title: 'Created', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
          { title: 'Status', cell: Status },
          {
            title: 'Actions',
            cell: (branch) => (
              <span class="row">
                <Button label={`Review ${branch.name}`} onClick={() => setReviewed(branch)}>
                  Review
                </Button>
                <ConfirmButton
                  action="Delete"
                  label={`Delete ${branch.name}`}
                  title={`Delete the branch ${branch.name}?`}
                  confirm="Delete the branch"
                  act={() => remove(branch)}
                >
                  <p>The editor {branch.editorId} stays. The page Deleted lists what can be restored.</p>
                </ConfirmButton>
              </span>
            ),
          },
        ]}
        empty="No branches yet."
      />
    </>
  )
}

interface BranchProps {
  readonly address: EditorAddress
  readonly branch: EditorBranch
}

const BranchLink = ({ address: { organizationId, documentId }, branch }: BranchProps) => (
  <a href={href('documents', organizationId, documentId, branch.branchEditorId)}>{branch.name}</a>
)

function Status({ status, decidedBy, decidedAt }: EditorBranch) {
  return (
    <>
      <span class={status === 'merged' ? 'tag good' : 'tag'}>{status}</span>
      {decidedAt !== null && (
        <span class="hint">
          {decidedBy !== '' && `by ${decidedBy}, `}
          <LocalTime at={decidedAt} />
        </span>
      )}
    </>
  )
}

function NewBranch({ address, onMade }: { readonly address: EditorAddress; readonly onMade: () => void }) {
  const api = useApi()
  const [name, setName] = useState('')
  const [userId, setUser] = useState('')
  const create = async () => {
    await api.call('/v2/crdt/branches/create', { ...address, name, userId: userId || consoleUser.id })
    setName('')
    onMade()
    return `The branch ${name} is created.`
  }
  return (
    <section class="card">
      <ActionForm label="New branch" action="Create the branch" act={create}>
        <TextField label="Name of a new branch" value={name} onInput={setName} required />
        <TextField
          label="User"
          value={userId}
          onInput={setUser}
          placeholder={consoleUser.id}
          hint="A suggester can edit only branches that are created in the name of this suggester."
        />
      </ActionForm>
    </section>
  )
}
