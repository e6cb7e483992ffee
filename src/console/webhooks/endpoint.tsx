import { useState } from 'preact/hooks'
import { useAction, useApi, useReading } from '../calls.ts'
import { go } from '../route.ts'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/controls.tsx'
import { Facts } from '../ui/facts.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome, Problem } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'
import { Deliveries } from './deliveries.tsx'
import { changeOf, draftOf } from './endpoint-draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { OnOrOff } from './endpoints.tsx'
import { findEndpoint } from './find-endpoint.ts'
import { SigningSecret } from './signing-secret.tsx'
import type { Endpoint } from './types.ts'

const path = '/v2/workspace/advancedwebhook/endpoints'

export function EndpointPage({ endpointId }: { readonly endpointId: string }) {
  const api = useApi()
  const { data, error, reload } = useReading(() => findEndpoint(api, endpointId), endpointId)
  if (data === null) return error === null ? <p class="hint">Reading…</p> : <Problem error={error} />
  return (
    <>
      <h2>{data.url}</h2>
      <Deliveries endpointId={endpointId} canTest={!data.disabled} />
      <SigningSecret endpointId={endpointId} />
      <Settings endpoint={data} onChange={reload} />
    </>
  )
}

interface SettingsProps {
  readonly endpoint: Endpoint
  readonly onChange: () => void
}

function Settings({ endpoint, onChange }: SettingsProps) {
  const { id: endpointId, disabled, uid, createdAt } = endpoint
  const api = useApi()
  const [draft, setDraft] = useState(() => draftOf(endpoint))
  const update = async (change: object): Promise<void> => {
    await api.call(`${path}/update`, { endpointId, ...change })
    onChange()
  }
  const save = useAction(async () => {
    await update(changeOf(draft))
    return 'Saved.'
  })
  const switching = useAction(() => update({ disabled: !disabled }))
  const remove = async () => {
    await api.call(`${path}/delete`, { endpointId })
    go('webhooks')
  }
  return (
    <section class="card" aria-label="Settings">
      <h2>Settings</h2>
      <Facts
        of={[
          ['State', <OnOrOff key="" isOff={disabled} />],
          ['Id', <code key="">{endpointId}</code>],
          ['Own name', uid],
          ['Made', <Time key="" at={createdAt} />],
        ]}
      />
      <Form label="Settings of the endpoint" onSubmit={() => void save.run()}>
        <EndpointFields draft={draft} onChange={setDraft} />
        <Button type="submit" busy={save.busy}>
          Save
        </Button>
        <Outcome {...save} />
      </Form>
      <div class="row">
        <Button busy={switching.busy} onClick={() => void switching.run()}>
          {disabled ? 'Enable' : 'Disable'}
        </Button>
        <Ask action="Delete endpoint" title="Delete the endpoint?" act={remove}>
          <p>
            It is sent nothing more, not even what has happened before. Its log and its secret go with it.
          </p>
        </Ask>
      </div>
      <Problem error={switching.error} />
    </section>
  )
}
