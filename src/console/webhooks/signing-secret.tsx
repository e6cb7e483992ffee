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

/** What deliveries are signed with: read only when somebody asks for it. */
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
      <p class="hint">What is sent is signed with it. Who has it can forge what the endpoint is sent.</p>
      {secret !== null && <SecretField label="Signing secret" value={secret} />}
      <div class="row">
        {secret === null && (
          <Button busy={read.busy} onClick={() => void read.run()}>
            Read the secret
          </Button>
        )}
        <ConfirmButton action="Rotate secret" title="Rotate the signing secret?" act={rotate}>
          <p>
            A new secret is made. For as long as you say here, what is sent is signed with the present one,
            too.
          </p>
          <TextField label="Hours for which both are good" type="number" value={hours} onInput={setHours} />
        </ConfirmButton>
      </div>
      <ErrorNotice error={read.error} />
    </section>
  )
}
