import { useState } from 'preact/hooks'
import { useApi } from '../api/hooks.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { TextField } from '../ui/controls.tsx'
import { formatCounted } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'

interface RecoverProps {
  readonly endpointId: string
  readonly onRecovered: () => void
}

/**
 * Maximum number of events that one call enqueues again. If a call enqueues this number, more events may
 * remain.
 */
const recoveredMax = 1_000

/** Shows a form that sends events again. It sends all events that have failed since a given time. */
export function ResendFailed({ endpointId, onRecovered }: RecoverProps) {
  const api = useApi()
  const [since, setSince] = useState('')
  const [requeued, setRequeued] = useState<number | null>(null)
  const recover = async () => {
    const data = { endpointId, since: Date.parse(since) }
    const path = '/v2/workspace/advancedwebhook/deliveries/recover'
    const answer = await api.call<{ requeued: number }>(path, data)
    setRequeued(answer.requeued)
    onRecovered()
  }
  return (
    <>
      <ConfirmButton action="Recover" title="Send failed events again?" harmless act={recover}>
        <p>
          Weft sends failed events since this time again, the oldest first, at most {recoveredMax} at once.
        </p>
        <TextField label="Since" type="datetime-local" value={since} onInput={setSince} required />
      </ConfirmButton>
      {requeued !== null && (
        <Notice kind="good">
          {formatCounted(requeued, 'event')} queued again.
          {requeued === recoveredMax && ' There may be more: recover again.'}
        </Notice>
      )}
    </>
  )
}
