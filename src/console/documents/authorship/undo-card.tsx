import { useEffect, useState } from 'preact/hooks'
import type {
  CrdtChangesData,
  CrdtHistoryDataOriginsItem,
  CrdtUndoData,
} from '../../../client/api/operation-types.ts'
import type { ApiClient, ApiPage } from '../../api/client.ts'
import { useAction, useApi } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { FocusedCard } from '../../ui/dialog.tsx'
import { formatCounted } from '../../ui/format.ts'
import { ActionOutcome, Notice } from '../../ui/notice.tsx'
import { consoleUser, type EditorAddress } from '../editor.ts'
import { type ChangeSetEntry, describeCounts, type HunkEntry } from './authors.ts'
import { HunkList } from './hunk-list.tsx'

interface UndoProps {
  readonly address: EditorAddress
  readonly author: string
  /** A part of the change; null: all changes of the author. */
  readonly change: CrdtHistoryDataOriginsItem | null
  /** Called with the whole change that an undo would remove. */
  readonly onFound: (found: ChangeSetEntry) => void
  readonly onUndone: () => void
  readonly onClose: () => void
}

/** Shows what an undo would do. Then undoes one change of an author, or all. */
export function UndoCard({ address, author, change, onFound, onUndone, onClose }: UndoProps) {
  const api = useApi()
  const [foreseen, setForeseen] = useState<CrdtUndoData | null>(null)
  const [found, setFound] = useState<ChangeSetEntry | null>(null)
  /** Undoes the change. If `dryRun` is true, only shows what would be undone. */
  const { run, busy, error, done } = useAction(async (dryRun: boolean) => {
    setForeseen(null)
    const whole = change === null ? null : (found ?? (await findChange(api, address, change)))
    if (change !== null && whole === null) return 'The change does not exist any more.'
    if (whole !== null && found === null) {
      setFound(whole)
      onFound(whole)
    }
    const selection = whole === null ? { by: author } : { changeIds: [whole.changeId] }
    const request = { ...address, ...selection, userId: consoleUser.id, dryRun }
    const answer = await api.call<CrdtUndoData>('/v2/crdt/undo', request)
    if (dryRun) return setForeseen(answer)
    onUndone()
    return !answer.changed ? 'There was nothing left to undo.' : `Undone${leftOut(answer)}.`
  })
  useEffect(() => void run(true), [])
  return (
    <FocusedCard label="Undo">
      <h3>
        Undo {change === null ? 'all changes' : 'the change'} of {author}
        {found !== null && ` (${describeCounts(found)})`}
      </h3>
      <p>
        The document below shows the removed and the restored parts. The undo is an edit: connected users see
        it at once, and it changes no text of other authors. Parts that others have changed since stay.
      </p>
      {foreseen !== null && <Foreseen of={foreseen} hunks={found?.hunks ?? []} />}
      <ActionOutcome error={error} done={done} />
      <p class="row">
        {foreseen?.changed && (
          <Button kind="primary" busy={busy} onClick={() => void run(false)}>
            Undo
          </Button>
        )}
        <Button busy={busy} onClick={() => void run(true)}>
          Preview again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </p>
    </FocusedCard>
  )
}

/** Reads the change sets of an author until one contains the change. */
async function findChange(
  api: ApiClient,
  address: EditorAddress,
  { userId, at, source, meta }: CrdtHistoryDataOriginsItem,
): Promise<ChangeSetEntry | null> {
  const isOf = (set: ChangeSetEntry): boolean =>
    set.source === source &&
    JSON.stringify(set.meta) === JSON.stringify(meta) &&
    (at === null ? set.lastAt === null : (set.firstAt ?? '') <= at && at <= (set.lastAt ?? ''))
  for (let place: object | null = {}; place !== null; ) {
    const request = { ...address, ...(userId !== null && { by: userId }), ...place }
    const page: ApiPage<CrdtChangesData> = await api.page('/v2/crdt/changes', request)
    const found = page.data.changes.find(isOf)
    if (found !== undefined) return found
    place = page.next
  }
  return null
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
}

function Foreseen({ of, hunks }: ForeseenProps) {
  return (
    <>
      {of.changed ? (
        <Notice>This would be undone{leftOut(of)}.</Notice>
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
    </>
  )
}
