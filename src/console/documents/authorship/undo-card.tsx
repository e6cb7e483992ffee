import { useEffect, useState } from 'preact/hooks'
import type { CrdtUndoData } from '../../../client/api/operation-types.ts'
import { useAction, useApi } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { FocusedCard } from '../../ui/dialog.tsx'
import { formatCounted } from '../../ui/format.ts'
import { ActionOutcome, Notice } from '../../ui/notice.tsx'
import { consoleUser, type EditorAddress } from '../editor.ts'
import { authorName, type ChangeSetEntry, describeCounts, type HunkEntry } from './authors.ts'
import { HunkList } from './hunk-list.tsx'

interface UndoProps {
  readonly address: EditorAddress
  /** The versions between which the change was listed; `to` is absent for the current version. */
  readonly range: { readonly from: string; readonly to?: string }
  readonly change: ChangeSetEntry
  readonly onUndone: () => void
  readonly onClose: () => void
}

/** Shows what an undo of a change would do. Then undoes the change. */
export function UndoCard({ address, range, change, onUndone, onClose }: UndoProps) {
  const api = useApi()
  const [foreseen, setForeseen] = useState<CrdtUndoData | null>(null)
  /** Undoes the change. If `dryRun` is true, only shows what would be undone. */
  const { run, busy, error, done } = useAction(async (dryRun: boolean) => {
    setForeseen(null)
    const request = { ...address, ...range, changeIds: [change.changeId], userId: consoleUser.id, dryRun }
    const answer = await api.call<CrdtUndoData>('/v2/crdt/undo', request)
    if (dryRun) return setForeseen(answer)
    onUndone()
    return !answer.changed ? 'There was nothing left to undo.' : `Undone${leftOut(answer)}.`
  })
  useEffect(() => void run(true), [])
  return (
    <FocusedCard label="Undo">
      <h3>
        Undo the change of {authorName(change.userId)} ({describeCounts(change)})
      </h3>
      <p>
        The undo is an edit: connected users see it at once, and it changes no text of other authors. Parts
        that others have changed since stay.
      </p>
      {foreseen !== null && (
        <Foreseen of={foreseen} hunks={change.hunks} busy={busy} onUndo={() => void run(false)} />
      )}
      <ActionOutcome error={error} done={done} />
      <p class="row">
        <Button busy={busy} onClick={() => void run(true)}>
          Look again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </p>
    </FocusedCard>
  )
}

const leftOut = ({ notUndone }: CrdtUndoData): string =>
  notUndone.length === 0 ? '' : `, except ${formatCounted(notUndone.length, 'part')}`

const reasons: Readonly<Record<string, string>> = {
  'unknown-change': 'The change does not exist any more.',
  'changed-since': 'Another change has set the same value or formatting.',
  'deleted-container': 'The element around it was deleted.',
  'contains-other-changes': 'It contains changes of others.',
  'content-lost': 'The deleted content is no longer stored.',
  overlap: 'Another change has changed the same word.',
}

interface ForeseenProps {
  readonly of: CrdtUndoData
  /** The parts of the change. */
  readonly hunks: readonly HunkEntry[]
  readonly busy: boolean
  readonly onUndo: () => void
}

function Foreseen({ of, hunks, busy, onUndo }: ForeseenProps) {
  return (
    <>
      {of.changed ? (
        <Notice>The change would be undone{leftOut(of)}.</Notice>
      ) : (
        <Notice>This would change nothing.</Notice>
      )}
      {of.notUndone.length > 0 && (
        <>
          <p>These parts stay:</p>
          <ul>
            {of.notUndone.map(({ hunk, reason }, index) => (
              <li key={index}>
                {reasons[reason] ?? reason}
                {hunk !== null && <HunkList hunks={hunks.slice(hunk, hunk + 1)} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {of.changed && (
        <p>
          <Button kind="primary" busy={busy} onClick={onUndo}>
            Undo the change
          </Button>
        </p>
      )}
    </>
  )
}
