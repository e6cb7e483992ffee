import { useState } from 'preact/hooks'
import type {
  WebhookEndpoint,
  WorkspaceAdvancedwebhookEndpointsGetData,
} from '../../client/api/operation-types.ts'
import { ApiCallError, type ApiClient } from '../api/client.ts'
import { useAction, useApi, useAsync } from '../api/hooks.ts'
import { navigate } from '../routing/route.ts'
import { Button, LocalTime, TextField } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm } from '../ui/form.tsx'
import { ErrorNotice, ReadState } from '../ui/notice.tsx'
import { DefinitionList } from '../ui/table.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { draftOf, toUpdateRequest } from './endpoint-draft.ts'
import { EnabledBadge, EndpointFields } from './endpoint-list.tsx'

const path = '/v2/workspace/advancedwebhook/endpoints'

/**
 * Returns the endpoint with an id. Reads the list of all endpoints, because the API cannot return a single
 * endpoint.
 * @throws ApiCallError; also if no endpoint has this id
 */
async function findEndpoint(api: ApiClient, endpointId: string): Promise<WebhookEndpoint> {
  for await (const { endpoints } of api.pages<WorkspaceAdvancedwebhookEndpointsGetData>(`${path}/get`)) {
    const found = endpoints.find(({ id, uid }) => id === endpointId || uid === endpointId)
    if (found !== undefined) return found
  }
  throw new ApiCallError('NOT_FOUND', 'This endpoint does not exist any more.')
}

export function EndpointDetail({ endpointId }: { readonly endpointId: string }) {
  const api = useApi()
  const { data, error, loading, reload } = useAsync(() => findEndpoint(api, endpointId), endpointId)
  if (data === null) return <ReadState error={error} loading={loading} />
  return (
    <>
      <h2>{data.url}</h2>
      <DeliveryLog endpointId={endpointId} canTest={!data.disabled} />
      <SigningSecret endpointId={endpointId} />
      <Settings endpoint={data} onChange={reload} />
    </>
  )
}

interface SettingsProps {
  readonly endpoint: WebhookEndpoint
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
  const save = async () => {
    await update(toUpdateRequest(draft))
    return 'Saved.'
  }
  const switching = useAction(() => update({ disabled: !disabled }))
  const remove = async () => {
    await api.call(`${path}/delete`, { endpointId })
    navigate('webhooks')
  }
  return (
    <section class="card" aria-label="Settings">
      <h2>Settings</h2>
      <DefinitionList
        of={[
          ['State', <EnabledBadge key="" isOff={disabled} />],
          ['Id', <code key="">{endpointId}</code>],
          ['Own name', uid],
          ['Made', <LocalTime key="" at={createdAt} />],
        ]}
      />
      <ActionForm label="Settings of the endpoint" action="Save" stacked act={save}>
        <EndpointFields draft={draft} onChange={setDraft} />
      </ActionForm>
      <div class="row">
        <Button busy={switching.busy} onClick={() => void switching.run()}>
          {disabled ? 'Enable' : 'Disable'}
        </Button>
        <ConfirmButton action="Delete endpoint" title="Delete the endpoint?" act={remove}>
          <p>
            Weft stops all deliveries to this endpoint, including queued ones, and deletes its log and its
            secret.
          </p>
        </ConfirmButton>
      </div>
      <ErrorNotice error={switching.error} />
    </section>
  )
}

/** Shows the secret that signs requests. The secret is read when the user requests it. */
function SigningSecret({ endpointId }: { readonly endpointId: string }) {
  const api = useApi()
  const [secret, setSecret] = useState<string | null>(null)
  const [hours, setHours] = useState('24')
  const call = async (name: 'get' | 'rotate', data: object) => {
    const answer = await api.call<{ readonly secret: string }>(`${path}/secret/${name}`, data)
    setSecret(answer.secret)
  }
  const read = useAction(() => call('get', { endpointId }))
  const rotate = () => call('rotate', { endpointId, graceSeconds: Math.round(Number(hours) * 3600) })
  return (
    <section class="card spaced" aria-label="Signing secret">
      <h2>Signing secret</h2>
      <p class="hint">The secret signs all events to this endpoint. Anyone who has it can forge them.</p>
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
