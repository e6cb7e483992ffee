import { useState } from 'preact/hooks'
import { useAction, useApi, useQuery } from '../api/hooks.ts'
import { Button, Checkbox, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, ErrorNotice } from '../ui/notice.tsx'
import { PayloadEncodingFields } from './payload-encoding-fields.tsx'
import { type BasicSettings, endpointEventTypes } from './webhook-types.ts'

const path = '/v2/workspace/webhookconfig'

export function BasicWebhooks() {
  const { data, error } = useQuery<BasicSettings>(`${path}/get`)
  if (data === null) return error === null ? <p class="hint">Reading…</p> : <ErrorNotice error={error} />
  return <BasicForm given={data} />
}

type ServiceSettings = BasicSettings['webhookServiceConfig']

/**
 * Shows the form of the basic service. It has one URL for all events, and one URL for notifications of users.
 */
function BasicForm({ given }: { readonly given: BasicSettings }) {
  const api = useApi()
  const [isOn, setOn] = useState(given.useWebhookService)
  const [service, setService] = useState(given.webhookServiceConfig)
  const change = (part: Partial<ServiceSettings>) => setService((before) => ({ ...before, ...part }))
  const save = useAction(async () => {
    const data = { useWebhookService: isOn, webhookServiceConfig: service }
    const saved = await api.call<BasicSettings>(`${path}/update`, data)
    // Shows the saved settings in the form, because the server adds triggers when the service is enabled for
    // the first time.
    setService(saved.webhookServiceConfig)
    return 'Saved.'
  })
  return (
    <section class="card" aria-label="Basic webhooks">
      <Form label="Basic webhooks" onSubmit={() => void save.run()}>
        <h2>Basic webhooks</h2>
        <Checkbox label="Basic webhooks are on" checked={isOn} onChange={setOn} />
        <TextField
          label="Event URL (all events)"
          type="url"
          value={service.rawNotificationUrl}
          onInput={(rawNotificationUrl) => change({ rawNotificationUrl })}
        />
        <TextField
          label="Notification URL (with recipients)"
          type="url"
          value={service.processedNotificationUrl}
          onInput={(processedNotificationUrl) => change({ processedNotificationUrl })}
        />
        <TextField
          label="Authorization token"
          type="password"
          autocomplete="off"
          value={service.authToken}
          onInput={(authToken) => change({ authToken })}
          hint="Sent as Authorization: Basic …"
        />
        <PayloadEncodingFields value={service} onChange={change} />
        <Triggers value={service.triggers} onChange={(triggers) => change({ triggers })} />
        <Button kind="primary" type="submit" busy={save.busy}>
          Save
        </Button>
        <ActionOutcome {...save} />
      </Form>
    </section>
  )
}

interface TriggersProps {
  readonly value: Readonly<Record<string, boolean>>
  readonly onChange: (value: Readonly<Record<string, boolean>>) => void
}

const names = [...endpointEventTypes.filter((type) => type !== 'webhook.test'), 'enableDataProtection']

const Triggers = ({ value, onChange }: TriggersProps) => (
  <details>
    <summary>What is told</summary>
    {names.map((name) => (
      <Checkbox
        key={name}
        label={name}
        checked={value[name] ?? false}
        onChange={(isOn) => onChange({ ...value, [name]: isOn })}
      />
    ))}
  </details>
)
