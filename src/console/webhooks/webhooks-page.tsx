import { useState } from 'preact/hooks'
import { useApi, useQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { Checkbox } from '../ui/controls.tsx'
import { ActionForm } from '../ui/form.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { EndpointDetail } from './endpoint-detail.tsx'
import { EndpointList } from './endpoint-list.tsx'
import { StoreDeliveries } from './store-deliveries.tsx'

const path = '/v2/workspace/advancedwebhookconfig'

/** Shows the page `#/webhooks`, `#/webhooks/endpoint/{endpoint}` or `#/webhooks/store`. */
export default function WebhooksPage({ rest: [kind, id] }: PageProps) {
  const [endpoints, store] = [href('webhooks'), href('webhooks', 'store')]
  return (
    <>
      <h1>Webhooks</h1>
      <Tabs
        label="Kinds of webhooks"
        current={kind === 'store' ? store : endpoints}
        tabs={[
          [endpoints, 'Endpoints'],
          [store, 'Callback store'],
        ]}
      />
      {kind === 'store' && <StoreDeliveries />}
      {kind === 'endpoint' && id !== undefined && <EndpointDetail key={id} endpointId={id} />}
      {kind === undefined && <Endpoints />}
    </>
  )
}

interface WebhookSettings {
  readonly isEnabled: boolean
}

function Endpoints() {
  const { data, error, reload } = useQuery<WebhookSettings>(`${path}/get`)
  return (
    <>
      <ErrorNotice error={error} />
      {data?.isEnabled && <EndpointList />}
      {data?.isEnabled === false && (
        <Notice>Advanced webhooks are off. Weft sends no events to endpoints, and does not list them.</Notice>
      )}
      {data !== null && <WebhookSwitch wasOn={data.isEnabled} onChange={reload} />}
    </>
  )
}

interface WebhookSwitchProps {
  readonly wasOn: boolean
  readonly onChange: () => void
}

/** Turns all endpoints on or off. */
function WebhookSwitch({ wasOn, onChange }: WebhookSwitchProps) {
  const api = useApi()
  const [isEnabled, setEnabled] = useState(wasOn)
  const save = async () => {
    await api.call(`${path}/update`, { isEnabled })
    onChange()
    return 'Saved.'
  }
  return (
    <section class="card spaced" aria-label="Advanced webhooks">
      <h2>Advanced webhooks</h2>
      <ActionForm label="Advanced webhooks" action="Save" stacked act={save}>
        <Checkbox label="Advanced webhooks are on" checked={isEnabled} onChange={setEnabled} />
      </ActionForm>
    </section>
  )
}
