import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/notice.tsx'

interface Answered {
  readonly secret: string
}

interface SigningSecretProps {
  /** Path of the operations `get` and `rotate`. */
  readonly path: string
  /** Data of both operations. */
  readonly data?: object
  /** The signed things, such as `all events to this endpoint`. */
  readonly signed: string
}

/** Shows the secret that signs requests. The secret is read when the user requests it. */
export function SigningSecret({ path, data = {}, signed }: SigningSecretProps) {
  const api = useApi()
  const [secret, setSecret] = useState<string | null>(null)
  const [hours, setHours] = useState('24')
  const read = useAction(async () => setSecret((await api.call<Answered>(`${path}/get`, data)).secret))
  const rotate = async () => {
    const graceSeconds = Math.round(Number(hours) * 3600)
    setSecret((await api.call<Answered>(`${path}/rotate`, { ...data, graceSeconds })).secret)
  }
  return (
    <section class="card spaced" aria-label="Signing secret">
      <h2>Signing secret</h2>
      <p class="hint">The secret signs {signed}. Anyone who has it can forge them.</p>
      {secret !== null && <SecretField label="Signing secret" value={secret} />}
      <div class="row">
        {secret === null && (
          <Button busy={read.busy} onClick={() => void read.run()}>
            Show secret
          </Button>
        )}
        <ConfirmButton action="Rotate secret" title="Rotate the signing secret?" act={rotate}>
          <p>This creates a new secret. For the time below, the current secret also signs.</p>
          <TextField
            label="Old secret stays valid for (hours)"
            type="number"
            value={hours}
            onInput={setHours}
          />
        </ConfirmButton>
      </div>
      <ErrorNotice error={read.error} />
    </section>
  )
}
