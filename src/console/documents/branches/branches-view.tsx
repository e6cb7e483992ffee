import { useState } from 'preact/hooks'
import { useAction, useApi, usePagedQuery } from '../../api/hooks.ts'
import { href } from '../../routing/route.ts'
import { Button, TextField } from '../../ui/controls.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { ActionOutcome } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/table.tsx'
import { LocalTime } from '../../ui/time.tsx'
import { consoleUser, type EditorAddress, type EditorViewProps } from '../editor.ts'
import { type BranchEntry, BranchReview } from './branch-review.tsx'

type Doing = { readonly kind: 'review' | 'delete'; readonly branch: BranchEntry }

/** Lists the branches of an editor. The user can create, review and delete them. */
export function BranchesView({ address }: EditorViewProps) {
  const api = useApi()
  const listing = usePagedQuery<BranchEntry>('/v2/crdt/branches/list', address)
  const [doing, setDoing] = useState<Doing | null>(null)
  const close = () => setDoing(null)
  const deletion = useAction(async ({ name }: BranchEntry) => {
    await api.call('/v2/crdt/branches/delete', { ...address, name })
    close()
    listing.reload()
    return `The branch ${name} is deleted.`
  })
  return (
    <>
      <h2>Branches</h2>
      <p>
        A branch is a copy of the editor that follows it. Its changes stay in the branch until you accept
        them.
      </p>
      <NewBranch address={address} onMade={listing.reload} />
      <ActionOutcome error={deletion.error} done={deletion.done} />
      {doing?.kind === 'review' && (
        <BranchReview
          key={doing.branch.name}
          address={address}
          branch={doing.branch}
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
                <Button label={`Review ${branch.name}`} onClick={() => setDoing({ kind: 'review', branch })}>
                  Review
                </Button>
                <Button
                  kind="danger"
                  label={`Delete ${branch.name}`}
                  onClick={() => setDoing({ kind: 'delete', branch })}
                >
                  Delete
                </Button>
              </span>
            ),
          },
        ]}
        empty="No branches yet."
      />
      {doing?.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete the branch ${doing.branch.name}?`}
          action="Delete the branch"
          busy={deletion.busy}
          onConfirm={() => void deletion.run(doing.branch)}
          onClose={close}
        >
          <p>Its changes that are not accepted are lost. The editor {doing.branch.editorId} stays.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

interface BranchProps {
  readonly address: EditorAddress
  readonly branch: BranchEntry
}

const BranchLink = ({ address: { organizationId, documentId }, branch }: BranchProps) => (
  <a href={href('documents', organizationId, documentId, branch.branchEditorId)}>{branch.name}</a>
)

function Status({ status, decidedBy, decidedAt }: BranchEntry) {
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
  const { run, busy, error, done } = useAction(async () => {
    await api.call('/v2/crdt/branches/create', { ...address, name, userId: userId || consoleUser.id })
    setName('')
    onMade()
    return `The branch ${name} is created.`
  })
  return (
    <section class="card">
      <Form label="New branch" inline onSubmit={() => void run()}>
        <TextField label="Name of a new branch" value={name} onInput={setName} required />
        <TextField
          label="User"
          value={userId}
          onInput={setUser}
          placeholder={consoleUser.id}
          hint="A suggester can edit only branches that are created in the name of this suggester."
        />
        <Button type="submit" busy={busy}>
          Create the branch
        </Button>
      </Form>
      <ActionOutcome error={error} done={done} />
    </section>
  )
}
