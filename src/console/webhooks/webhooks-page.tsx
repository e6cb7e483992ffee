import { useQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AdvancedWebhooks } from './advanced-webhooks.tsx'
import { BasicWebhooks } from './basic-webhooks.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { EndpointDetail } from './endpoint-detail.tsx'
import { EndpointList } from './endpoint-list.tsx'
import type { AdvancedSettings } from './webhook-types.ts'

/** Shows the page `#/webhooks`, `#/webhooks/endpoint/{endpoint}` or `#/webhooks/basic`. */
export default function WebhooksPage({ rest: [kind, id] }: PageProps) {
  const [endpoints, basic] = [href('webhooks'), href('webhooks', 'basic')]
  return (
    <>
      <h1>Webhooks</h1>
      <Tabs
        label="Kinds of webhooks"
        current={kind === 'basic' ? basic : endpoints}
        tabs={[
          [endpoints, 'Endpoints'],
          [basic, 'Basic service'],
        ]}
      />
      {kind === 'basic' && <BasicService />}
      {kind === 'endpoint' && id !== undefined && <EndpointDetail key={id} endpointId={id} />}
      {kind === undefined && <AdvancedService />}
    </>
  )
}

function AdvancedService() {
  const { data, error, reload } = useQuery<AdvancedSettings>('/v2/workspace/advancedwebhookconfig/get')
  return (
    <>
      <ErrorNotice error={error} />
      {data?.isEnabled && <EndpointList />}
      {data?.isEnabled === false && (
        <Notice>Advanced webhooks are off. Weft sends no events to endpoints, and does not list them.</Notice>
      )}
      {data !== null && <AdvancedWebhooks config={data} onChange={reload} />}
    </>
  )
}

const BasicService = () => (
  <>
    <BasicWebhooks />
    <h2>Deliveries to the event URL</h2>
    <DeliveryLog endpointId="basic-raw" />
    <h2>Deliveries to the notification URL</h2>
    <DeliveryLog endpointId="basic-processed" />
  </>
)
