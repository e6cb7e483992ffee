import { useState } from 'preact/hooks'
import { useAction, useApi } from '../calls.ts'
import { Button, Check } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/notice.tsx'
import type { AdvancedConfig } from './types.ts'
import { WrappingFields } from './wrapping.tsx'

interface AdvancedProps {
  readonly config: AdvancedConfig
  readonly onChange: () => void
}

/** The service that has endpoints: on or off, and how it sends. */
export function Advanced({ config, onChange }: AdvancedProps) {
  const api = useApi()
  const [draft, setDraft] = useState(config)
  const change = (given: Partial<AdvancedConfig>) => setDraft((before) => ({ ...before, ...given }))
  const save = useAction(async () => {
    await api.call('/v2/workspace/advancedwebhookconfig/update', draft)
    onChange()
    return 'Saved.'
  })
  return (
    <section class="card spaced" aria-label="Advanced webhooks">
      <Form label="Advanced webhooks" onSubmit={() => void save.run()}>
        <h2>Advanced webhooks</h2>
        <Check
          label="Advanced webhooks are on"
          checked={draft.isEnabled}
          onChange={(isEnabled) => change({ isEnabled })}
        />
        <Check
          label="Leave names, e-mail addresses and content out"
          checked={draft.enableDataProtection}
          onChange={(enableDataProtection) => change({ enableDataProtection })}
        />
        <WrappingFields value={draft} onChange={change} />
        <Button type="submit" busy={save.busy}>
          Save
        </Button>
        <Outcome {...save} />
      </Form>
    </section>
  )
}
