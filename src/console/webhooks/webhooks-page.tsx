import { useState } from 'preact/hooks'
import type { ApiClient } from '../api/client.ts'
import { useAction, useApi, useAsync, useQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { Button, Checkbox, Select, Tabs } from '../ui/controls.tsx'
import { ActionForm } from '../ui/form.tsx'
import { ActionOutcome, ErrorNotice, Notice } from '../ui/notice.tsx'
import { type DeliveryEntry, type DeliveryPage, deliveriesPath } from './delivery-entry.ts'
import { DeliveryTable } from './delivery-table.tsx'
import { EndpointDetail } from './endpoint-detail.tsx'
import { EndpointList } from './endpoint-list.tsx'

interface StoreDelivery extends DeliveryEntry {
  readonly endpointId: string
}

/** Ids of the delivery logs that share the editors among them. */
const logIds = Array.from({ length: 8 }, (_, index) => `store-${index}`)
/** Maximum number of deliveries that are read from each log. */
const limit = 20

const statuses = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
] as const
type Status = (typeof statuses)[number][0]

/** Shows the latest deliveries of the callback `store`, with each failed attempt. */
function StoreDeliveries() {
  const api = useApi()
  const [status, setStatus] = useState<Status>('')
  const { data, error, loading, reload } = useAsync(() => latestDeliveries(api, status), status)
  const resend = useAction(async ({ messageId }: DeliveryEntry) => {
    const endpointId = data?.find((each) => each.messageId === messageId)?.endpointId
    await api.call(`${deliveriesPath}/resend`, { endpointId, messageId })
    reload()
    return 'Weft sends the newest content again. Read the log again for the outcome.'
  })
  return (
    <section aria-label="Deliveries of store">
      <h2>Latest deliveries of the callback store</h2>
      <div class="row">
        <Select<Status> label="Status" value={status} options={statuses} onChange={setStatus} />
        <Button onClick={reload}>Read again</Button>
      </div>
      <ActionOutcome {...resend} />
      <DeliveryTable
        listing={{ items: data ?? [], error, loading, reload, more: null }}
        busy={resend.busy}
        onResend={(delivery) => void resend.run(delivery)}
      />
    </section>
  )
}

/** Reads the first page of each log. Returns the deliveries, the newest first. */
async function latestDeliveries(api: ApiClient, status: Status): Promise<readonly StoreDelivery[]> {
  const read = async (endpointId: string): Promise<readonly StoreDelivery[]> => {
    const asked = { endpointId, limit, ...(status !== '' && { status }) }
    const { deliveries } = await api.call<DeliveryPage>(`${deliveriesPath}/get`, asked)
    return deliveries.map((each) => ({ ...each, endpointId }))
  }
  const pages = await Promise.all(logIds.map(read))
  return pages.flat().toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
}

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

function Endpoints() {
  const { data, error, reload } = useQuery<{ readonly isEnabled: boolean }>(`${path}/get`)
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

/** Turns all endpoints on or off. */
function WebhookSwitch({ wasOn, onChange }: { readonly wasOn: boolean; readonly onChange: () => void }) {
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
