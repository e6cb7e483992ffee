import { useCall } from '../calls.ts'
import { href, type PageProps } from '../route.ts'
import { Notice, Problem } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Advanced } from './advanced.tsx'
import { Basic } from './basic.tsx'
import { Deliveries } from './deliveries.tsx'
import { EndpointPage } from './endpoint.tsx'
import { Endpoints } from './endpoints.tsx'
import type { AdvancedConfig } from './types.ts'

/** `#/webhooks`, `#/webhooks/endpoint/{endpoint}`, `#/webhooks/basic`. */
export default function Page({ rest: [kind, id] }: PageProps) {
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
      {kind === 'endpoint' && id !== undefined && <EndpointPage key={id} endpointId={id} />}
      {kind === undefined && <AdvancedService />}
    </>
  )
}

function AdvancedService() {
  const { data, error, reload } = useCall<AdvancedConfig>('/v2/workspace/advancedwebhookconfig/get')
  return (
    <>
      <Problem error={error} />
      {data?.isEnabled && <Endpoints />}
      {data?.isEnabled === false && (
        <Notice>Advanced webhooks are off: endpoints are sent nothing, and cannot be seen.</Notice>
      )}
      {data !== null && <Advanced config={data} onChange={reload} />}
    </>
  )
}

const BasicService = () => (
  <>
    <Basic />
    <h2>Deliveries to the raw URL</h2>
    <Deliveries endpointId="basic-raw" />
    <h2>Deliveries to the processed URL</h2>
    <Deliveries endpointId="basic-processed" />
  </>
)
