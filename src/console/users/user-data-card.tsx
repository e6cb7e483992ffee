import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button } from '../ui/controls.tsx'
import { formatCounted } from '../ui/format.ts'
import { ActionOutcome, Notice } from '../ui/notice.tsx'
import { saveFile } from '../ui/save-file.ts'
import { describeErasure, downloadUserData, type ErasureProgress, eraseUser } from './erase-user.ts'

/**
 * Lets an administrator download or erase all stored data of a user. This includes the data in all
 * organizations.
 */
export function UserDataCard({ userId }: { readonly userId: string }) {
  const api = useApi()
  const [erasure, setErasure] = useState<ErasureProgress | null>(null)
  const isThere = useRef(true)
  useEffect(
    () => () => {
      isThere.current = false
    },
    [],
  )
  const download = useAction(async () => {
    const items = await downloadUserData(api, userId)
    saveFile(`user-${userId}.json`, 'application/json', JSON.stringify({ userId, items }, null, 2))
    return `${formatCounted(items.length, 'thing')} downloaded.`
  })
  const work = useAction(() => eraseUser(api, userId, setErasure, () => isThere.current))
  return (
    <section class="card spaced" aria-label="Data of the user">
      <h3>Data of the user</h3>
      <p class="hint">Covers all organizations of this API key, without the content of documents.</p>
      <div class="row">
        <Button busy={download.busy} onClick={() => void download.run()}>
          Download as JSON
        </Button>
        <ConfirmButton
          action="Erase the user"
          title={`Erase ${userId}?`}
          typed={userId}
          // The dialog does not wait for the end of the erasure. The erasure continues after the dialog
          // closes, and this card shows its progress.
          act={async () => void work.run()}
        >
          <p>
            In all organizations, this deletes permissions, group memberships, the user record, notifications
            and presence, revokes the tokens, and closes the connections. Comments and activities that others
            see stay, and name <code>deleted-user</code>. You cannot undo this.
          </p>
        </ConfirmButton>
      </div>
      <ActionOutcome {...download} />
      <ActionOutcome {...work} />
      {erasure !== null && (
        <Notice kind={erasure.status === 'done' ? 'good' : 'info'}>{describeErasure(erasure)}</Notice>
      )}
    </section>
  )
}
