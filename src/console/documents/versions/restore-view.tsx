import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi } from '../../api/hooks.ts'
import { Button } from '../../ui/controls.tsx'
import { FocusedCard } from '../../ui/focused-card.tsx'
import { ActionOutcome } from '../../ui/notice.tsx'
import { consoleUser } from '../console-user.ts'
import { DryRunResult } from '../content/dry-run-result.tsx'
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

/**
 * Shows the changes that a restoration would make. Then restores the version, unless the document has been
 * edited since.
 */
export function RestoreView({ address, version, onRestored, onClose }: RestoreProps) {
  const api = useApi()
  const request = { ...address, versionId: version.versionId, userId: consoleUser.id }
  const [foreseen, setForeseen] = useState<EditSummary | null>(null)
  /** Restores the version. If `seen` is null, only makes a dry run and shows its changes. */
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
        All connected users see the change at once and can continue to edit. The current content becomes an
        automatic version.
      </p>
      {foreseen !== null && (
        <DryRunResult written={foreseen} action="Restore" busy={busy} onApply={() => void run(foreseen)} />
      )}
      <ActionOutcome error={error} done={done} />
      {error?.status === 'ABORTED' && (
        <p>Nothing was changed, because the document has newer edits. Look again before you restore.</p>
      )}
      <p class="row">
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
    ? 'The document already had this content.'
    : `Restored: ${formatEditSummary(restored)}. To undo this, restore the automatic version ${restored.previousVersionId}.`
