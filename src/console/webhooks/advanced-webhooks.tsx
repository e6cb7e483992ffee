import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, Checkbox } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import { PayloadEncodingFields } from './payload-encoding-fields.tsx'
import type { AdvancedSettings } from './webhook-types.ts'

interface AdvancedProps {
  readonly config: AdvancedSettings
  readonly onChange: () => void
}

/** Shows the settings of advanced webhooks. These settings apply to all endpoints. */
export function AdvancedWebhooks({ config, onChange }: AdvancedProps) {
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
