import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi } from '../calls.ts'
import { Button } from '../ui/controls.tsx'
import { Notice, Outcome } from '../ui/notice.tsx'
import type { EditorAddress } from './live/scene.ts'
import { consoleUser } from './user.ts'
import { nameOf, type Version } from './version.ts'
import { summary, type Written } from './written.ts'

interface Restored extends Written {
  readonly previousVersionId: string | null
}

interface RestoreProps {
  readonly address: EditorAddress
  readonly version: Version
  readonly onRestored: () => void
  readonly onClose: () => void
}

/** Says what going back to a version would change; then it may be done, unless somebody was faster. */
export function Restore({ address, version, onRestored, onClose }: RestoreProps) {
  const api = useApi()
  const request = { ...address, versionId: version.versionId, userId: consoleUser.id }
  const [foreseen, setForeseen] = useState<Written | null>(null)
  const look = useAction(async () => {
    setForeseen(await api.call<Written>('/v2/crdt/versions/restore', { ...request, dryRun: true }))
  })
  const restoration = useAction(async (seen: Written) => {
    const restored = await api.call<Restored>('/v2/crdt/versions/restore', {
      ...request,
      ifVersion: seen.version,
    })
    setForeseen(null)
    onRestored()
    return said(restored)
  })
  useEffect(() => void look.run(), [])
  const isLate = restoration.error?.status === 'ABORTED'
  return (
    <section class="card" aria-label="Restoration">
      <h3>Restore {nameOf(version)}</h3>
      <p>
        Everybody who has the document open sees the change at once and can go on. What there is now is kept
        as a version of its own.
      </p>
      {foreseen !== null && !foreseen.changed && (
        <Notice>The content is that of this version already.</Notice>
      )}
      {foreseen?.changed && <Notice>This would be changed: {summary(foreseen)}.</Notice>}
      <Outcome error={look.error ?? restoration.error} done={restoration.done} />
      {isLate && <p>Somebody has changed the document since you looked: look again at what would change.</p>}
      <p class="row">
        <Button busy={look.busy} onClick={() => void look.run()}>
          Look again
        </Button>
        {foreseen?.changed && !isLate && (
          <Button kind="primary" busy={restoration.busy} onClick={() => void restoration.run(foreseen)}>
            Restore
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </p>
    </section>
  )
}

const said = (restored: Restored): string =>
  restored.previousVersionId === null
    ? 'Nothing had to be changed.'
    : `Restored: ${summary(restored)}. What there was before is the automatic version ${restored.previousVersionId}: to undo this, restore that one.`
