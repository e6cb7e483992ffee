import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button, TextField } from '../ui/controls.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { SecretField } from '../ui/secret.tsx'

const path = '/v2/workspace/advancedwebhook/endpoints/secret'

interface Answered {
  readonly secret: string
}

/** Shows the secret that signs deliveries. The secret is read when the user requests it. */
export function SigningSecret({ endpointId }: { readonly endpointId: string }) {
  const api = useApi()
  const [secret, setSecret] = useState<string | null>(null)
  const [hours, setHours] = useState('24')
  const read = useAction(async () =>
    setSecret((await api.call<Answered>(`${path}/get`, { endpointId })).secret),
  )
  const rotate = async () => {
    const graceSeconds = Math.round(Number(hours) * 3600)
    setSecret((await api.call<Answered>(`${path}/rotate`, { endpointId, graceSeconds })).secret)
  }
  return (
    <section class="card spaced" aria-label="Signing secret">
      <h2>Signing secret</h2>
      <p class="hint">The secret signs all events to this endpoint. Anyone who has it can forge events.</p>
      {secret !== null && <SecretField label="Signing secret" value={secret} />}
      <div class="row">
        {secret === null && (
          <Button busy={read.busy} onClick={() => void read.run()}>
            Show secret
          </Button>
        )}
        <ConfirmButton action="Rotate secret" title="Rotate the signing secret?" act={rotate}>
          <p>This creates a new secret. For the time below, the current secret also signs all events.</p>
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
