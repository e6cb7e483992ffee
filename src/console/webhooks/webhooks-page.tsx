import { useState } from 'preact/hooks'
import { useAction, useApi, useQuery } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { Button, Checkbox } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, ErrorNotice, Notice } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { BasicWebhooks } from './basic-webhooks.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { EndpointDetail } from './endpoint-detail.tsx'
import { EndpointList } from './endpoint-list.tsx'
import { PayloadEncodingFields } from './payload-encoding-fields.tsx'
import { StoreDeliveries } from './store-deliveries.tsx'
import type { AdvancedSettings } from './webhook-types.ts'

interface AdvancedProps {
  readonly config: AdvancedSettings
  readonly onChange: () => void
}

/** Shows the settings of advanced webhooks. These settings apply to all endpoints. */
function AdvancedWebhooks({ config, onChange }: AdvancedProps) {
  const api = useApi()
  const [draft, setDraft] = useState(config)
  const change = (given: Partial<AdvancedSettings>) => setDraft((before) => ({ ...before, ...given }))
  const save = useAction(async () => {
    await api.call('/v2/workspace/advancedwebhookconfig/update', draft)
    onChange()
    return 'Saved.'
  })
  return (
    <section class="card spaced" aria-label="Advanced webhooks">
      <Form label="Advanced webhooks" onSubmit={() => void save.run()}>
        <h2>Advanced webhooks</h2>
        <Checkbox
          label="Advanced webhooks are on"
          checked={draft.isEnabled}
          onChange={(isEnabled) => change({ isEnabled })}
        />
        <Checkbox
          label="Omit names, e-mail addresses and content"
          checked={draft.enableDataProtection}
          onChange={(enableDataProtection) => change({ enableDataProtection })}
        />
        <PayloadEncodingFields value={draft} onChange={change} />
        <Button type="submit" busy={save.busy}>
          Save
        </Button>
        <ActionOutcome {...save} />
      </Form>
    </section>
  )
}

/** Shows the page `#/webhooks`, `#/webhooks/endpoint/{endpoint}`, `#/webhooks/basic` or `#/webhooks/store`. */
export default function WebhooksPage({ rest: [kind, id] }: PageProps) {
  const [endpoints, basic, store] = [href('webhooks'), href('webhooks', 'basic'), href('webhooks', 'store')]
  return (
    <>
      <h1>Webhooks</h1>
      <Tabs
        label="Kinds of webhooks"
        current={kind === 'basic' ? basic : kind === 'store' ? store : endpoints}
        tabs={[
          [endpoints, 'Endpoints'],
          [basic, 'Basic service'],
          [store, 'Callback store'],
        ]}
      />
      {kind === 'basic' && <BasicService />}
      {kind === 'store' && <StoreDeliveries />}
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
