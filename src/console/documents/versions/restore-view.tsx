import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { FocusedCard } from '../../ui/focused-card.tsx'
import { ActionOutcome, Notice } from '../../ui/notice.tsx'
import { consoleUser } from '../console-user.ts'
import { type EditSummary, formatEditSummary } from '../content/edit-summary.ts'
import type { EditorAddress } from '../live/live-view.ts'
import { type VersionSummary, versionTitle } from './version-summary.ts'

interface Restored extends EditSummary {
  readonly previousVersionId: string | null
}

interface RestoreProps {
  readonly address: EditorAddress
  readonly version: VersionSummary
  readonly onRestored: () => void
  readonly onClose: () => void
}

/** Says what going back to a version would change; then it may be done, unless somebody was faster. */
export function RestoreView({ address, version, onRestored, onClose }: RestoreProps) {
  const api = useApi()
  const request = { ...address, versionId: version.versionId, userId: consoleUser.id }
  const [foreseen, setForeseen] = useState<EditSummary | null>(null)
  /** Without what was foreseen it only looks. */
  const { run, busy, error, done } = useAction(async (seen: EditSummary | null) => {
    setForeseen(null)
    const asked = seen === null ? { dryRun: true } : { ifVersion: seen.version }
    const answer = await api.call<Restored>('/v2/crdt/versions/restore', { ...request, ...asked })
    if (seen === null) return setForeseen(answer)
    onRestored()
    return describeRestored(answer)
  })
  useEffect(() => void run(null), [])
  return (
    <FocusedCard label="Restoration">
      <h3>Restore {versionTitle(version)}</h3>
      <p>
        Everybody who has the document open sees the change at once and can go on. What there is now is kept
        as a version of its own.
      </p>
      {foreseen?.changed === false && <Notice>The content is that of this version already.</Notice>}
      {foreseen?.changed && <Notice>This would be changed: {formatEditSummary(foreseen)}.</Notice>}
      <ActionOutcome error={error} done={done} />
      {error?.status === 'ABORTED' && (
        <p>Nothing was changed, because somebody else was faster: look again at what would change.</p>
      )}
      <p class="row">
        {foreseen?.changed && (
          <Button kind="primary" busy={busy} onClick={() => void run(foreseen)}>
            Restore
          </Button>
        )}
        <Button busy={busy} onClick={() => void run(null)}>
          Look again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </p>
    </FocusedCard>
  )
}

const describeRestored = (restored: Restored): string =>
  restored.previousVersionId === null
    ? 'Nothing had to be changed.'
    : `Restored: ${formatEditSummary(restored)}. What there was before is the automatic version ${restored.previousVersionId}: to undo this, restore that one.`
